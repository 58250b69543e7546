"""What a verification can find, and how it is said in one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Concern(StrEnum):
    """What a finding is about, in the order in which findings are told."""

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
    """One thing that is wrong."""

    concern: Concern
    file: str
    text: str
    line: int | None = None

    @property
    def sentence(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.text}"
