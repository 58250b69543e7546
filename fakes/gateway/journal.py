"""The recorded requests to the scripted parties."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any
from urllib.parse import parse_qsl

from gateproof.fakes.gateway.script import Endpoint


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One request; `at_s` is monotonic time, `status` that of the answer, 0 if there was none."""

    ordinal: int
    endpoint: Endpoint
    method: str
    target: str
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    body: bytes = field(repr=False)
    at_s: float
    status: int = 0

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name.lower()), None)

    def headers_named(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name.lower()]

    def media_type(self) -> str:
        """The media type without parameters; empty without a Content-Type."""
        return (self.header("content-type") or "").partition(";")[0].strip().lower()

    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode("utf-8", "replace"), keep_blank_values=True))

    def json(self) -> Any:
        """The body as JSON; None if it is not JSON."""
        try:
            return json.loads(self.body.decode())
        except (ValueError, RecursionError):
            return None

    def text(self) -> str:
        """The whole request as text, to search in."""
        lines = [f"{self.method} {self.target}", *(f"{name}: {value}" for name, value in self.headers)]
        return "\n".join([*lines, self.body.decode("utf-8", "replace")])


class Journal:
    """The calls in order of arrival."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._calls: list[Call] = []

    def note(self, call: Call) -> int:
        """Records a call; returns its position for `settle`."""
        with self._lock:
            self._calls.append(call)
            return len(self._calls) - 1

    def settle(self, place: int, status: int) -> None:
        with self._lock:
            self._calls[place] = replace(self._calls[place], status=status)

    def mark(self) -> int:
        """The current end of the journal, for `since`."""
        with self._lock:
            return len(self._calls)

    def since(self, mark: int = 0, *endpoints: Endpoint) -> list[Call]:
        with self._lock:
            calls: Iterable[Call] = self._calls[mark:]
        return [call for call in calls if not endpoints or call.endpoint in endpoints]
