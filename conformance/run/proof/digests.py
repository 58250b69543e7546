"""Digests of the sources of a trial: the suite, and the subject's files in the reference."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from gateproof.conformance.run.proof.implementations import Subject
from gateproof.package import ROOT

_PACKAGES = ("conformance", "fakes", "reference", "reports")
_SUBJECTS = tuple(ROOT / "reference" / folder for folder in ("defects", "variants", "deviations"))
# The rules that a defect declares are what its trial is judged by, and no part of the trial.
_DECLARED = re.compile(rb" \([A-Z]+-\d\d(?: [A-Z]+-\d\d)*\): ")


@cache
def of_the_suite() -> str:
    """The digest of all files that every trial depends on."""
    found = (path for package in _PACKAGES for path in (ROOT / package).rglob("*.py"))
    return _digest((*ROOT.glob("*.py"), *(path for path in found if not _of_a_subject(path))))


def of(subject: Subject) -> str:
    """The digest of what is wrong or different with a subject: its files, and what they import of others."""
    return _digest_from(frozenset(subject.name.split("+")))


@cache
def _digest_from(names: frozenset[str]) -> str:
    texts = _texts()
    # A name that is put together from others stands nowhere: it may be made of anything.
    own = {path for path, text in texts.items() if any(_row_of(name).search(text) for name in names)} or set(
        texts
    )
    waiting = list(own)
    while waiting:
        further = _imported(waiting.pop()) - own
        own |= further
        waiting += further
    return _digest(own)


@cache
def _texts() -> dict[Path, str]:
    return {path: path.read_text(encoding="utf-8") for folder in _SUBJECTS for path in folder.rglob("*.py")}


def _of_a_subject(path: Path) -> bool:
    return any(path.is_relative_to(folder) for folder in _SUBJECTS)


@cache
def _row_of(name: str) -> re.Pattern[str]:
    return re.compile(rf'"{re.escape(name)}(?:"| \(|:)')


@cache
def _imported(path: Path) -> frozenset[Path]:
    """The files of defects and variants that one of them imports."""
    by_module = {".".join(each.relative_to(ROOT.parent).with_suffix("").parts): each for each in _texts()}
    return frozenset(by_module[name] for name in _names(ast.parse(_texts()[path])) if name in by_module)


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            # What is imported from a package may be a module of it.
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(f"{path.relative_to(ROOT)}\0".encode())
        digest.update(hashlib.sha256(_as_tried(path)).digest())
    return digest.hexdigest()


def _as_tried(path: Path) -> bytes:
    source = path.read_bytes()
    return _DECLARED.sub(b": ", source) if _of_a_subject(path) else source
