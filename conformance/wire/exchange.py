"""One request and what came back for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Headers = tuple[tuple[str, str], ...]


class NotJson:
    """Stands for a body that is no JSON; it equals nothing but itself."""

    def __repr__(self) -> str:
        return "a body that is not JSON"


NOT_JSON = NotJson()


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A request as it was sent, header by header.

    `target` goes on the request line in place of the URL's own path and query, byte for byte; `alone` asks
    for a connection that no other request has used. Once the answer's body is all that was asked `until`,
    no more of it is waited for. Its answer may take so much `longer_s` than another's.
    """

    method: str
    url: str
    headers: Headers = ()
    body: bytes = b""
    target: bytes | None = None
    alone: bool = False
    until: Callable[[bytes], bool] | None = field(default=None, repr=False, compare=False)
    longer_s: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """An HTTP answer as it was received, header by header, its body decoded from the transfer only."""

    status: int
    headers: Headers = ()
    body: bytes = b""
    elapsed_s: float = 0.0
    phrase: str = ""

    def header(self, name: str) -> str | None:
        """The first header of that name in any case, or None."""
        return next(iter(self.headers_named(name)), None)

    def headers_named(self, name: str) -> tuple[str, ...]:
        return tuple(value for key, value in self.headers if key.lower() == name.lower())

    def json(self) -> Any:
        """The body as JSON, or NOT_JSON; duplicate members and a byte order mark are taken as they come."""
        try:
            return json.loads(self.body.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            return NOT_JSON

    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    """One request with its answer, or with why none came; `at_s` is its start on a steady clock."""

    step: str
    request: Request
    answer: Answer | None = None
    failure: str | None = None
    retries: tuple[Answer, ...] = ()
    at_s: float = 0.0

    @property
    def status(self) -> int | None:
        """The status of the answer; None when none came."""
        return None if self.answer is None else self.answer.status

    def header(self, name: str) -> str | None:
        return None if self.answer is None else self.answer.header(name)

    def json(self) -> Any:
        return NOT_JSON if self.answer is None else self.answer.json()

    def member(self, name: str) -> Any:
        """A member of the JSON object in the body; None when there is no such object or member."""
        document = self.json()
        return document.get(name) if isinstance(document, dict) else None

    def says(self, word: str) -> bool:
        """True where the word stands anywhere in the body: the shape of an error is open."""
        return self.answer is not None and word in self.answer.text()

    def outcome(self) -> str:
        """What came back, in a few words."""
        return self.failure or f"status {self.status}"
