"""What becomes of the next calls of an endpoint: a tape that is used up first, then a standing answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from threading import Lock
from typing import Any


class Endpoint(StrEnum):
    """Where a scripted gateway, or a party beside it, is called."""

    DISCOVERY = "discovery"
    CORE_KEYS = "core keys"
    RESOURCE_KEYS = "resource keys"
    TOKEN = "token"  # noqa: S105 - a name
    REDEMPTION = "redemption"
    MERCHANT_API = "merchant API"
    METADATA = "metadata"
    OPERATION = "operation"
    REGISTRATION = "registration"
    AUTHORIZATION = "authorization"
    CONSENT = "consent"
    ELSEWHERE = "elsewhere"


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """How one call ends.

    The honest answer comes after `delay_s`, its JSON changed by `members` (None takes a member away). With a
    `status` or a `body` these come in its place. A call that is to `reset` gets no answer; one that `hangs`
    gets none for so long that nobody waits, or until the script is cleared. An answer that drips comes octet
    by octet for `drips_s` and then all at once; one that `breaks_off` ends in the midst of its body, and one
    that `packs` is in gzip for whoever asked for that. With `whose`, all of this is for calls that have it in
    them, and every other call is answered honestly.
    """

    status: int | None = None
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    members: Mapping[str, Any] = field(default_factory=dict)
    delay_s: float = 0.0
    hangs: bool = False
    reset: bool = False
    drips_s: float = 0.0
    breaks_off: bool = False
    packs: bool = False
    whose: str = field(default="", repr=False)


OK = Answer()


class Script:
    """Answers by endpoint; the test writes it in one thread, the server reads it in another."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._tapes: dict[Endpoint, deque[Answer]] = {}
        self._standing: dict[Endpoint, Answer] = {}
        self.cleared = 0

    def tape(self, endpoint: Endpoint, answers: Iterable[Answer]) -> None:
        """The next calls end like this, one after the other."""
        with self._lock:
            self._tapes[endpoint] = deque(answers)

    def always(self, endpoint: Endpoint, answer: Answer) -> None:
        """Every call ends like this once the tape is used up."""
        with self._lock:
            self._standing[endpoint] = answer

    def clear(self) -> None:
        """Every answer is honest again, and what hangs is let go."""
        with self._lock:
            self.cleared += 1
            self._tapes.clear()
            self._standing.clear()

    def next(self, endpoint: Endpoint) -> Answer:
        with self._lock:
            tape = self._tapes.get(endpoint)
            return tape.popleft() if tape else self._standing.get(endpoint, OK)
