"""A campaign: generates input with one seed after the other until its time is over; stores failures."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any


def _nothing() -> None:
    """Default: nothing happens between two turns."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Campaign:
    """The time that each check may use, and a folder for failures, which several machines can share."""

    share_s: float
    folder: Path
    # Called between two turns.
    between: Callable[[], None] = _nothing

    def folder_of(self, check_id: str) -> Path:
        """The folder for the failures of one check."""
        name = "".join(letter if letter.isalnum() or letter in "-_" else "." for letter in check_id)
        return self.folder / name

    def turns(self) -> Iterator[int]:
        """Yields turn numbers from 0 until the check's time is over; there is at least one turn."""
        deadline, turn = time.monotonic() + self.share_s, 0
        yield turn
        while time.monotonic() < deadline:
            self.between()
            turn += 1
            yield turn

    def stored(self, check_id: str) -> list[dict[str, Any]]:
        """Stored failures of this check, from any machine; files that cannot be read are skipped."""
        found = []
        for path in sorted(self.folder_of(check_id).glob("*.json")):
            with suppress(OSError, ValueError):
                story = json.loads(path.read_text(encoding="utf-8"))
                if isinstance(story, dict):
                    found.append(story)
        return found

    def store(self, check_id: str, story: dict[str, Any]) -> Path:
        """Stores a failure and returns its path; equal failures share one file."""
        octets = json.dumps(story, sort_keys=True).encode()
        folder = self.folder_of(check_id)
        folder.mkdir(parents=True, exist_ok=True)
        place = folder / f"{hashlib.sha256(octets).hexdigest()[:16]}.json"
        # Written to another file and renamed, because another process may be reading.
        beside = place.with_suffix(f".{time.monotonic_ns()}")
        beside.write_bytes(octets)
        beside.replace(place)
        return place


def share_s(minutes: float, *, at_once: int, one_by_one: int, workers: int) -> float:
    """The time for each generating check; some run in parallel, the others one by one."""
    turns = at_once / workers + one_by_one
    return minutes * 60 / turns if turns else 0.0
