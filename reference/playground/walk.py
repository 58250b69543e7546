"""One walk through the sequence: its progress, its exchanges, and the state of agent and service."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from gateproof.reference.agent.policy.authorization import Attempt
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.wire import Answer, Outgoing
from gateproof.reference.playground import redaction
from gateproof.reference.playground.faults import Fault, Members, Moment
from gateproof.reference.playground.redaction import Redactor, Shown
from gateproof.reference.playground.settings import Stage

Party: TypeAlias = Literal["Browser", "Agent", "Service", "Gateway", "Merchant"]
LAST = 9
# The maximum number of characters between two lines of the diagram.
LONGEST = 22


class Halted(Exception):
    """A step has failed; the text says why, and contains no credentials."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Exhibit:
    """One request and its answer, redacted; either may be shown in another step."""

    step: int
    sender: Party
    receiver: Party
    title: str
    request: Shown
    answer: Shown
    status: int | None
    label: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Decoded:
    """The header and claims of a token, without the signature."""

    step: int
    what: str
    header: Mapping[str, Any]
    claims: Mapping[str, Any]


@dataclass(kw_only=True)
class Walk:
    """The state of agent and service. Its credentials are not shown."""

    stage: Stage
    fault: Fault | None
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    done: int = 0
    halted: str | None = None
    exhibits: list[Exhibit] = field(default_factory=list)
    decoded: list[Decoded] = field(default_factory=list)
    remarks: list[tuple[int, str]] = field(default_factory=list)
    redactor: Redactor = field(default_factory=Redactor, repr=False)

    metadata_url: str = ""
    authorization_server: str = ""
    endpoints: Endpoints | None = None
    jwks_uri: str = ""
    client: Client | None = field(default=None, repr=False)
    attempt: Attempt | None = field(default=None, repr=False)
    authorization_url: str = ""
    code: str = field(default="", repr=False)
    tokens: Members = field(default_factory=dict, repr=False)
    returned_at: float = 0.0
    call: asyncio.Task[Answer] | None = field(default=None, repr=False)
    accepted: str = field(default="", repr=False)
    orders: asyncio.Future[list[Any]] | None = field(default=None, repr=False)
    proxy_token: str = field(default="", repr=False)
    merchant_token: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        self.redactor.hide(self.stage.proxy_client_secret, redaction.PROXY_SECRET)
        self.redactor.hide(self.stage.proxy_client_id, redaction.PROXY_CLIENT_ID)

    @property
    def next_step(self) -> int | None:
        return None if self.halted is not None or self.done == LAST else self.done + 1

    def changed(self, at: Moment, members: Members) -> Members:
        """The members, changed by the fault if it applies at this moment."""
        return self.fault.change(members) if self.fault is not None and self.fault.at == at else members

    def say(self, step: int, remark: str) -> None:
        self.remarks.append((step, remark))

    def show(
        self,
        step: int,
        between: tuple[Party, Party],
        title: str,
        request: Outgoing | None,
        answer: Answer | None,
    ) -> int:
        """Adds a redacted exchange to the page; returns its position."""
        sender, receiver = between
        exhibit = Exhibit(
            step=step,
            sender=sender,
            receiver=receiver,
            title=title,
            request=self.redactor.redacted(_request_text(request)) if request is not None else (),
            answer=self.redactor.redacted(_answer_text(answer)) if answer is not None else (),
            status=answer.status if answer is not None else None,
            label=f"{request.method} {_short(request.url)}" if request is not None else "",
        )
        self.exhibits.append(exhibit)
        return len(self.exhibits) - 1

    def forget(self, step: int) -> None:
        """Removes everything of this step and later ones."""
        self.exhibits = [each for each in self.exhibits if each.step < step]
        self.decoded = [each for each in self.decoded if each.step < step]
        self.remarks = [each for each in self.remarks if each[0] < step]

    def leave(self) -> None:
        """Ends the walk and cancels an open call."""
        if self.call is not None:
            self.call.cancel()

    def age_s(self) -> float:
        return time.monotonic() - self.returned_at


_TOLD = ("content-type", "www-authenticate", "location", "cache-control")


def _request_text(request: Outgoing) -> str:
    lines = [
        f"{request.method} {request.url}",
        *(f"{key}: {value}" for key, value in request.headers.items()),
    ]
    return "\n".join([*lines, *_body_text(request.body)])


def _answer_text(answer: Answer) -> str:
    lines = [str(answer.status), *(f"{key}: {value}" for key, value in answer.headers if key in _TOLD)]
    return "\n".join([*lines, *_body_text(answer.body)])


def _body_text(body: bytes) -> list[str]:
    """The body for people to read: JSON is indented, and a form has one field in each line."""
    text = body.decode("utf-8", "replace")
    try:
        return ["", json.dumps(json.loads(text), indent=2, ensure_ascii=False)]
    except (ValueError, RecursionError):
        return ["", text.replace("&", "\n&")] if text else []


def _short(url: str) -> str:
    """A short form of the path for the diagram, without identifiers."""
    path = f"/{url.split('/', 3)[-1].partition('?')[0]}"
    _, found, document = path.partition("/.well-known/")
    if found:
        return document.partition("/")[0]
    return path if len(path) <= LONGEST else f"…/{path.rpartition('/')[2]}"
