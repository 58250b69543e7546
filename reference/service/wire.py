"""Requests and answers between the service, agents, gateway and merchant, as values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlencode

Kind = Literal["served", "no token", "not accepted", "reauthorize", "nothing there", "unavailable"]
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A request of an agent; header names are in lower case."""

    method: str
    path: str
    query: str = field(default="", repr=False)
    headers: Pairs = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)

    def headers_named(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """An answer to an agent."""

    status: int
    headers: Pairs = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Outgoing:
    """A request to the gateway or the merchant; its headers and body may contain credentials."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """An answer of gateway or merchant: the status, and the JSON object of the body, if any.

    Header names are in lower case.
    """

    status: int
    document: dict[str, Any] = field(repr=False)
    text: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """A failed request and the last answer to it; neither is shown to agents."""

    asked: Outgoing
    answer: Answer | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """The result of an operation, from which the answer to the agent is made."""

    kind: Kind
    orders: list[Any] = field(default_factory=list, repr=False)
    trouble: Failure | None = field(default=None, repr=False)


def form(url: str, fields: Mapping[str, str], **headers: str) -> Outgoing:
    """A POST request with a form."""
    said = {"content-type": "application/x-www-form-urlencoded", **headers}
    return Outgoing(method="POST", url=url, headers=said, body=urlencode(fields).encode())


def as_json(status: int, document: Any, *headers: tuple[str, str]) -> Reply:
    """A JSON answer to an agent, with Cache-Control: no-store."""
    said = (("content-type", "application/json"), ("cache-control", "no-store"), *headers)
    return Reply(status=status, headers=said, body=json.dumps(document).encode("ascii"))
