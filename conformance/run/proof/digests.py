"""Digests of the sources of a trial: the suite, and the subject's files in the reference."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from gateproof.conformance.run.proof import sources
from gateproof.conformance.run.proof.implementations import Subject


@cache
def of_the_suite() -> str:
    """The digest of all files that every trial depends on."""
    return sources.digest(path for path in sources.of_the_packages() if not sources.is_of_a_subject(path))


def of(subject: Subject) -> str:
    """The digest of a subject's files and of the other subjects' files that they import."""
    return _digest_from(frozenset(subject.name.split("+")))


@cache
def files_of(names: frozenset[str]) -> frozenset[Path]:
    """The files of subjects with these names, and the files of other subjects that they import."""
    every = sources.of_subjects()
    # A name that the code puts together is in no file: the subject may be in any of them.
    own = [path for path in every if any(_row_of(name).search(sources.text_of(path)) for name in names)]
    return sources.followed(own or every, every)


@cache
def _digest_from(names: frozenset[str]) -> str:
    return sources.digest(files_of(names))


@cache
def _row_of(name: str) -> re.Pattern[str]:
    return re.compile(rf'"{re.escape(name)}(?:"| \(|:)')
