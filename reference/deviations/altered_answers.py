"""Wrappers around a correct party that change its answers, or stop requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.records import VaultEntry


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A request with its whole body."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Answered:
    """An answer before it is sent."""

    status: int
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    body: bytes = field(repr=False)

    def with_header(self, name: str, value: str) -> Answered:
        return replace(self, headers=(*self.headers, (name, value)))

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key == name), "")


# The party that is wrapped: a gateway, or the backend of a service.
Party = TypeVar("Party")


def altering_answers(
    change: Callable[[Asked, Answered, Party], Answered | Awaitable[Answered]],
) -> Callable[[ASGIApp, Party], ASGIApp]:
    """Wraps every endpoint; `change` gets request and answer, and returns the answer that is sent."""

    def around(app: ASGIApp, party: Party) -> ASGIApp:
        async def meddled(scope: Scope, receive: Receive, send: Send) -> None:
            body, replayed = await _body(receive)
            sent: list[Message] = []
            await app(scope, replayed, _into(sent))
            asked = Asked(
                method=scope["method"],
                path=scope["path"],
                query=scope["query_string"].decode("latin-1"),
                headers={key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]},
                body=body,
            )
            changed = change(asked, _answered(sent), party)
            answered = await changed if isinstance(changed, Awaitable) else changed
            await _send(answered, asked, send)

        return meddled

    return around


def newest_merchant_token(gateway: Gateway) -> VaultEntry | None:
    """The newest merchant token that the gateway stores; None if there is none."""
    return max(gateway.store.vault.values(), key=lambda entry: entry.issued_at, default=None)


async def _body(receive: Receive) -> tuple[bytes, Receive]:
    messages: list[Message] = []
    while True:
        message = await receive()
        messages.append(message)
        if message["type"] != "http.request" or not message.get("more_body"):
            break
    waiting = iter(messages)

    async def replayed() -> Message:
        return next(waiting, None) or await receive()

    return b"".join(message.get("body", b"") for message in messages), replayed


def _into(sent: list[Message]) -> Send:
    async def keep(message: Message) -> None:
        sent.append(message)

    return keep


def _answered(sent: list[Message]) -> Answered:
    start = sent[0]
    headers: Any = start["headers"]
    return Answered(
        status=start["status"],
        headers=tuple(
            (key.decode("latin-1").lower(), value.decode("latin-1"))
            for key, value in headers
            if key.lower() != b"content-length"
        ),
        body=b"".join(message.get("body", b"") for message in sent[1:]),
    )


async def _send(answered: Answered, asked: Asked, send: Send) -> None:
    headers = [(key.encode("latin-1"), value.encode("latin-1")) for key, value in answered.headers]
    headers.append((b"content-length", str(len(answered.body)).encode()))
    await send({"type": "http.response.start", "status": answered.status, "headers": headers})
    body = b"" if asked.method == "HEAD" else answered.body
    await send({"type": "http.response.body", "body": body})
