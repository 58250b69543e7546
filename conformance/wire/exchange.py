"""One request and its answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Headers = tuple[tuple[str, str], ...]
HTTP_1_1 = "1.1"
# The grants of token requests that a target may answer with tokens only once.
_USED_ONCE = (b"grant_type=authorization_code", b"grant_type=refresh_token")


class NotJson:
    """Represents a body that is not JSON; it equals only itself."""

    def __repr__(self) -> str:
        return "a body that is not JSON"


NOT_JSON = NotJson()


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A request as it was sent, header by header.

    `target` replaces the URL's path and query on the request line. `alone` asks for a new connection. Once
    `until` is true for the body so far, the rest is not awaited. The timeout is `longer_s` longer than usual.
    Without `accept`, no Accept header is added to the headers.
    """

    method: str
    url: str
    headers: Headers = ()
    body: bytes = b""
    target: bytes | None = None
    alone: bool = False
    until: Callable[[bytes], bool] | None = field(default=None, repr=False, compare=False)
    longer_s: float = 0.0
    accept: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """An HTTP answer as it was received; only transfer encodings of the body are decoded.

    `version` is that of HTTP. `resent` means that a kept connection had ended, and that the request was sent
    again on a new one.
    """

    status: int
    headers: Headers = ()
    body: bytes = b""
    elapsed_s: float = 0.0
    phrase: str = ""
    resent: bool = False
    version: str = HTTP_1_1

    def header(self, name: str) -> str | None:
        """The first header with this name in any case, or None."""
        return next(iter(self.headers_named(name)), None)

    def headers_named(self, name: str) -> tuple[str, ...]:
        wanted = name.lower()
        return tuple(value for key, value in self.headers if key.lower() == wanted)

    def json(self) -> Any:
        """The body as JSON, or NOT_JSON; duplicate members and a byte order mark are allowed."""
        try:
            return json.loads(self.body.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            return NOT_JSON

    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    """One request with its answer or failure; `at_s` is its start on the monotonic clock."""

    step: str
    request: Request
    answer: Answer | None = None
    failure: str | None = None
    retries: tuple[Answer, ...] = ()
    at_s: float = 0.0

    @property
    def status(self) -> int | None:
        """The status of the answer; None if there is none."""
        return None if self.answer is None else self.answer.status

    @property
    def may_be_used_up(self) -> bool:
        """True if a code or refresh token was refused after the target had asked to send it again later.

        The target may have used it up before the answer that asked to wait.
        """
        refused = self.status is not None and 400 <= self.status < 500
        return bool(self.retries) and refused and any(grant in self.request.body for grant in _USED_ONCE)

    def header(self, name: str) -> str | None:
        return None if self.answer is None else self.answer.header(name)

    def json(self) -> Any:
        return NOT_JSON if self.answer is None else self.answer.json()

    def member(self, name: str) -> Any:
        """A member of the JSON object in the body; None if there is none."""
        document = self.json()
        return document.get(name) if isinstance(document, dict) else None

    def says(self, word: str) -> bool:
        """True if the body contains the word; the format of errors is open."""
        return self.answer is not None and word in self.answer.text()

    def outcome(self) -> str:
        """A short description of the result."""
        return self.failure or f"status {self.status}"
