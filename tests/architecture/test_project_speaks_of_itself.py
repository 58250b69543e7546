"""No file of the project names a place that exists on one machine only, or a package registry's host."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MACHINE_PATH = re.compile(r"(?<![\w.~}*-])/(?:work|root|home|Users|opt)/[\w.-]")
REGISTRY = re.compile(
    r"\b(?:(?:test\.)?pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|crates\.io|deb\.debian\.org"
    r"|proxy\.golang\.org|repo1?\.maven\.org|rubygems\.org)\b"
)
INDEX_OPTION = re.compile(r"^\s*(?:-i|-f|--(?:extra-)?index-url|--find-links|--trusted-host)\b", re.MULTILINE)
NOT_OURS = {".git", ".tox", ".hypothesis", "__pycache__", "gateproof-report", "dist", "build"}


def files_of(root: Path) -> list[Path]:
    """What git tracks; without git, as in an unpacked archive, what lies there and is no tool's."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True, timeout=60
        )
        return [root / name for name in listed.stdout.split("\0") if name and (root / name).is_file()]
    except (OSError, subprocess.CalledProcessError):
        return [path for path in root.rglob("*") if path.is_file() and not is_a_tools(path.relative_to(root))]


def is_a_tools(path: Path) -> bool:
    hidden = (".venv", ".mypy", ".ruff", ".pytest")
    return any(part in NOT_OURS or part.startswith(hidden) for part in path.parts)


def slips(name: str, text: str) -> list[str]:
    patterns = {"a machine's path": MACHINE_PATH, "a registry": REGISTRY}
    if name.startswith("requirements/") and name.endswith(".txt"):
        patterns |= {"where to download from": INDEX_OPTION, "an address": re.compile(r"\w://")}
    return [
        f"{name}:{text.count(chr(10), 0, found.start()) + 1} names {what}: {found.group()}"
        for what, pattern in patterns.items()
        for found in pattern.finditer(text)
    ]


def test_no_file_names_a_machine_or_a_registry() -> None:
    found: list[str] = []
    for path in files_of(ROOT):
        found += slips(path.relative_to(ROOT).as_posix(), path.read_bytes().decode("utf-8", errors="replace"))
    assert found == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("docs/a.md", "look into /" + "home/alice/notes"),
        ("tests/a.py", "ROOT = '/" + "work/main'"),
        ("a.toml", "ca_file = '/" + "root/ca.pem'"),
        ("docs/a.md", "see https://" + "pypi" + ".org/simple"),
        ("requirements/run.txt", "--extra-index" + "-url mirror"),
        ("requirements/run.txt", "gateproof @ file:" + "//here"),
    ],
)
def test_a_slip_is_found(name: str, text: str) -> None:
    assert slips(name, f"first line\n{text}\n")[0].startswith(f"{name}:2 ")


@pytest.mark.parametrize(
    "text",
    [
        "https://gateway.test/home/alice",
        "~/work/x",
        "{base_url}/work/x",
        "#!/bin/sh",
        "/etc/ssl",
        "the work/home",
    ],
)
def test_what_anybody_has_is_no_slip(text: str) -> None:
    assert slips("docs/a.md", text) == []
