"""The findings of a verification."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Concern(StrEnum):
    """The subject of a finding, in the order of the output."""

    SIGNATURE = "signature"
    RECORD = "record"
    INCOMPLETE = "incomplete"
    COUNTS = "counts"
    SEAL = "seal"
    PROJECTION = "projection"
    UNLISTED = "unlisted"
    LEAK = "leak"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One problem."""

    concern: Concern
    file: str
    text: str
    line: int | None = None

    @property
    def sentence(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.text}"
