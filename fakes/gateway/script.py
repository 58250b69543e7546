"""Scripted answers by endpoint: first a list for the next calls, then one for all later calls."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from threading import Lock
from typing import Any


class Endpoint(StrEnum):
    """The endpoints of a scripted gateway and of the parties around it."""

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
    """How one call is answered.

    The honest answer is sent after `delay_s`, with `members` changed in its JSON (None removes a member) and
    `headers` added (None removes Cache-Control). `as_status` changes only its status, `status` or `body`
    replace it. `reset` resets the connection instead. `hangs` gives no answer until the client's timeout, or
    until the script is cleared. `drips_s` sends the body byte by byte for this time, then the rest.
    `breaks_off` ends within the body. `gzips` compresses if the client asked for gzip. With `capitals`,
    header names are written as in `WWW-Authenticate`. If `whose` is set, all this applies only to calls that
    contain that text.
    """

    status: int | None = None
    as_status: int | None = None
    body: bytes | None = None
    headers: Mapping[str, str | None] = field(default_factory=dict)
    members: Mapping[str, Any] = field(default_factory=dict)
    delay_s: float = 0.0
    hangs: bool = False
    reset: bool = False
    drips_s: float = 0.0
    breaks_off: bool = False
    gzips: bool = False
    capitals: bool = False
    whose: str = field(default="", repr=False)


OK = Answer()


# Longer than the timeout of any client with default settings.
HANG_S = 90.0


class Script:
    """Answers by endpoint. The test writes it in one thread, the server reads it in another."""

    def __init__(self, hang_s: float = HANG_S) -> None:
        self.hang_s = hang_s
        self._lock = Lock()
        self._tapes: dict[Endpoint, deque[Answer]] = {}
        self._standing: dict[Endpoint, Answer] = {}
        self.cleared = 0

    def tape(self, endpoint: Endpoint, answers: Iterable[Answer]) -> None:
        """The answers to the next calls, in order."""
        with self._lock:
            self._tapes[endpoint] = deque(answers)

    def always(self, endpoint: Endpoint, answer: Answer) -> None:
        """The answer to every call after the tape is used up."""
        with self._lock:
            self._standing[endpoint] = answer

    def clear(self) -> None:
        """Makes every answer honest again, and ends hanging calls."""
        with self._lock:
            self.cleared += 1
            self._tapes.clear()
            self._standing.clear()

    def next(self, endpoint: Endpoint) -> Answer:
        with self._lock:
            tape = self._tapes.get(endpoint)
            return tape.popleft() if tape else self._standing.get(endpoint, OK)
