"""Every module is small, has a name that says something, and opens with a sentence about itself."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("conformance", "fakes", "reference", "reports", "gateproof/doubles", "gateproof/forks")
EMPTY_NAMES = {"common", "data", "helper", "helpers", "manager", "misc", "util", "utils"}
LONGEST = 400


def complaints(root: Path) -> list[str]:
    found = []
    for path in sorted(path for package in PACKAGES for path in (root / package).rglob("*.py")):
        name = str(path.relative_to(root))
        source = path.read_text(encoding="utf-8")
        if (lines := len(source.splitlines())) > LONGEST:
            found.append(f"{name}: {lines} lines hide a name that has not been found yet")
        if EMPTY_NAMES & {part.removesuffix(".py") for part in path.relative_to(root).parts}:
            found.append(f"{name}: the name does not say what is in it")
        if not ast.get_docstring(ast.parse(source)):
            found.append(f"{name}: no docstring says what the module is")
    return found


def test_every_module_is_small_well_named_and_introduced() -> None:
    assert complaints(ROOT) == []


@pytest.mark.parametrize(
    ("name", "source", "complaint"),
    [
        ("long", '"""Long."""\n' + "x = 1\n" * LONGEST, "hide a name"),
        ("utils", '"""Anything."""\n', "does not say"),
        ("data/thing", '"""A thing."""\n', "does not say"),
        ("silent", "x = 1\n", "no docstring"),
        ("__init__", "", "no docstring"),
    ],
)
def test_a_planted_fault_is_found(tmp_path: Path, name: str, source: str, complaint: str) -> None:
    planted = tmp_path / "reports" / f"{name}.py"
    planted.parent.mkdir(parents=True)
    planted.write_text(source, encoding="utf-8")

    (found,) = complaints(tmp_path)

    assert complaint in found
