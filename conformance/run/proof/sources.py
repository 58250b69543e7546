"""The source files that a trial depends on, and which of them import which."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from gateproof.conformance import checks
from gateproof.package import ROOT

_PACKAGES = ("conformance", "doubles", "fakes", "reference", "reports")
_SUBJECTS = tuple(ROOT / "reference" / folder for folder in ("defects", "variants", "deviations"))
# The declared rules of a defect only judge its trial: they do not change how it runs.
_DECLARED = re.compile(rb" \([A-Z]+-\d\d(?: [A-Z]+-\d\d)*\): ")


@cache
def of_the_packages() -> tuple[Path, ...]:
    """All files, including those of checks, defects and variants."""
    found = (path for package in _PACKAGES for path in (ROOT / package).rglob("*.py"))
    return (*sorted(ROOT.glob("*.py")), *sorted(found))


@cache
def of_subjects() -> tuple[Path, ...]:
    return tuple(path for path in of_the_packages() if is_of_a_subject(path))


@cache
def of_checks(role: str) -> tuple[Path, ...]:
    """The modules of a role's checks, and modules that only these use."""
    return tuple(sorted(checks.place(role).glob("*.py")))


def is_of_a_subject(path: Path) -> bool:
    return any(path.is_relative_to(folder) for folder in _SUBJECTS)


def followed(start: Iterable[Path], among: Iterable[Path]) -> frozenset[Path]:
    """The files, with those in `among` that they import, directly or not."""
    known, found = frozenset(among), set(start)
    waiting = list(found)
    while waiting:
        further = (_imported(waiting.pop()) & known) - found
        found |= further
        waiting += further
    return frozenset(found)


def digest(paths: Iterable[Path]) -> str:
    whole = hashlib.sha256()
    for path in sorted(paths):
        whole.update(f"{path.relative_to(ROOT)}\0".encode())
        whole.update(hashlib.sha256(_as_tried(path)).digest())
    return whole.hexdigest()


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def _imported(path: Path) -> frozenset[Path]:
    by_module = _by_module()
    return frozenset(by_module[name] for name in _names(ast.parse(text_of(path))) if name in by_module)


@cache
def _by_module() -> dict[str, Path]:
    found = {}
    for path in of_the_packages():
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            # A name that is imported from a package may be a module of it.
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _as_tried(path: Path) -> bytes:
    source = path.read_bytes()
    return _DECLARED.sub(b": ", source) if is_of_a_subject(path) else source
