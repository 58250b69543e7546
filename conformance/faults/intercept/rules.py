"""Rules for the intercepting proxy, as data that is sent over a socket."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class At(StrEnum):
    """Before the request is forwarded, or after the server has handled it."""

    REQUEST = "request"
    RESPONSE = "response"


class Act(StrEnum):
    """What a rule does to an exchange."""

    KILL = "kill"
    ANSWER = "answer"
    DELAY = "delay"
    SET_BODY = "set-body"


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """Which exchanges of a hop are changed, how often at most, and how.

    `path` is a suffix of the path, `body` a regular expression that is searched in the request body.
    """

    name: str
    act: Act
    at: At = At.RESPONSE
    hop: str = ""
    method: str = ""
    path: str = ""
    body: str = ""
    times: int | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "act": self.act.value,
            "at": self.at.value,
            "hop": self.hop,
            "method": self.method,
            "path": self.path,
            "body": self.body,
            "times": self.times,
            "status": self.status,
            "headers": dict(self.headers),
            "content": base64.b64encode(self.content).decode("ascii"),
            "seconds": self.seconds,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Passed:
    """One exchange as the proxy saw it; status None means that no answer came."""

    hop: str
    method: str
    path: str
    request_headers: tuple[tuple[str, str], ...] = field(repr=False)
    request_body: bytes = field(repr=False)
    status: int | None
    answer_headers: tuple[tuple[str, str], ...] = field(repr=False)
    answer_body: bytes = field(repr=False)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Passed:
        return cls(
            hop=raw["hop"],
            method=raw["method"],
            path=raw["path"],
            request_headers=tuple((name, value) for name, value in raw["request_headers"]),
            request_body=base64.b64decode(raw["request_body"]),
            status=raw["status"],
            answer_headers=tuple((name, value) for name, value in raw["answer_headers"]),
            answer_body=base64.b64decode(raw["answer_body"]),
        )
