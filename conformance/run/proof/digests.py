"""What a trial was made with: the suite, and the subject's own part of the reference."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from gateproof.conformance.run.proof.implementations import Subject

_CHECKOUT = Path(__file__).parents[2]
_PACKAGES = ("conformance", "fakes", "reference", "reports")
_SUBJECTS = tuple(_CHECKOUT / "reference" / folder for folder in ("defects", "variants"))
_IMPORTS = re.compile(r"^from reference\.(?:defects|variants)\b.*", re.MULTILINE)
# The rules that a defect declares are what its trial is judged by, and no part of the trial.
_DECLARED = re.compile(rb'"[A-Z]+-\d\d(?: [A-Z]+-\d\d)*"')


@cache
def of_the_suite() -> str:
    """The digest of all that every trial depends on."""
    found = (path for package in _PACKAGES for path in (_CHECKOUT / package).rglob("*.py"))
    return _digest(path for path in found if path.parent not in _SUBJECTS)


def of(subject: Subject) -> str:
    """The digest of what is wrong or different with a subject: its files, and what they take from others."""
    return _digest_from(frozenset(subject.name.split("+")))


@cache
def _digest_from(names: frozenset[str]) -> str:
    texts = _texts()
    # A name that is put together from others stands nowhere: it may be made of anything.
    own = {path for path, text in texts.items() if any(f'"{name}"' in text for name in names)} or set(texts)
    waiting = list(own)
    while waiting:
        imports = set(re.findall(r"\w+", " ".join(_IMPORTS.findall(texts[waiting.pop()]))))
        for path in [path for path in texts if path.stem in imports and path not in own]:
            own.add(path)
            waiting.append(path)
    return _digest(own)


@cache
def _texts() -> dict[Path, str]:
    return {path: path.read_text(encoding="utf-8") for folder in _SUBJECTS for path in folder.glob("*.py")}


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(f"{path.relative_to(_CHECKOUT)}\0".encode())
        digest.update(hashlib.sha256(_as_tried(path)).digest())
    return digest.hexdigest()


def _as_tried(path: Path) -> bytes:
    source = path.read_bytes()
    return _DECLARED.sub(b'""', source) if path.parent in _SUBJECTS else source
