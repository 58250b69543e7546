"""A campaign: what is generated goes on with seed after seed until its time is over, and finds are kept."""

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
    """Two turns have nothing between them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Campaign:
    """How long each check may generate, and the folder of what failed, which many machines can share."""

    share_s: float
    folder: Path
    # What is done between two turns.
    between: Callable[[], None] = _nothing

    def folder_of(self, check_id: str) -> Path:
        """Where the finds of one check are kept."""
        name = "".join(letter if letter.isalnum() or letter in "-_" else "." for letter in check_id)
        return self.folder / name

    def turns(self) -> Iterator[int]:
        """Counts from 0 until the check's time is over; there is always a first turn."""
        deadline, turn = time.monotonic() + self.share_s, 0
        yield turn
        while time.monotonic() < deadline:
            self.between()
            turn += 1
            yield turn

    def stored(self, check_id: str) -> list[dict[str, Any]]:
        """The stories that failed before, here or on another machine; what cannot be read is left alone."""
        found = []
        for path in sorted(self.folder_of(check_id).glob("*.json")):
            with suppress(OSError, ValueError):
                story = json.loads(path.read_text(encoding="utf-8"))
                if isinstance(story, dict):
                    found.append(story)
        return found

    def store(self, check_id: str, story: dict[str, Any]) -> Path:
        """Keeps a story that failed, once for all who find it, and says where."""
        octets = json.dumps(story, sort_keys=True).encode()
        folder = self.folder_of(check_id)
        folder.mkdir(parents=True, exist_ok=True)
        place = folder / f"{hashlib.sha256(octets).hexdigest()[:16]}.json"
        # Written beside it and renamed: somebody else may be reading.
        beside = place.with_suffix(f".{time.monotonic_ns()}")
        beside.write_bytes(octets)
        beside.replace(place)
        return place


def share_s(minutes: float, *, at_once: int, one_by_one: int, workers: int) -> float:
    """What each generating check gets of the time, where some run side by side and the others alone."""
    turns = at_once / workers + one_by_one
    return minutes * 60 / turns if turns else 0.0
