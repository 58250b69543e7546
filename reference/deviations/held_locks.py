"""Around an honest gateway: locks that are held too long, and callers that take something along."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy.vault import Verdict
from gateproof.reference.gateway.records import Resource, VaultEntry, VaultKey
from gateproof.reference.gateway.vault import Vault

# Longer than anybody waits for a recovery.
WEDGED_S = 25.0
# A request that did not wait for its turn bears this mark.
EARLY = "defect.early"
_REDEMPTION, _REGISTRATION = "/api/credentials/token", "/api/register"
_DISCOVERY = "/.well-known/openid-configuration"
# So many discovery documents of nothing, within so short a time, are too much.
UNKNOWN, UNKNOWN_S = 16, 10.0

App = Callable[[Scope, Receive, Send], Awaitable[None]]


def _around(change: Callable[[ASGIApp], App]) -> Callable[[ASGIApp, Gateway], ASGIApp]:
    return lambda app, _: change(app)


async def _all_of_its_body(receive: Receive) -> tuple[list[Message], Receive]:
    messages = [await receive()]
    while messages[-1]["type"] == "http.request" and messages[-1].get("more_body"):
        messages.append(await receive())
    waiting = iter(messages)

    async def again() -> Message:
        return next(waiting, None) or await receive()

    return messages, again


async def _refuse(send: Send, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


def reading_one_body_at_a_time() -> Any:
    """Whoever reads a body waits for all of it, and everybody else waits along."""
    reading = asyncio.Lock()

    def change(app: ASGIApp) -> App:
        async def read_first(scope: Scope, receive: Receive, send: Send) -> None:
            async with reading:
                _, again = await _all_of_its_body(receive)
            await app(scope, again, send)

        return read_first

    return _around(change)


def one_at_a_time(path: str = _REDEMPTION) -> Any:
    """What is asked of this path waits for whoever came before, whoever that is."""
    turn = asyncio.Lock()

    def change(app: ASGIApp) -> App:
        async def locked(scope: Scope, receive: Receive, send: Send) -> None:
            if not scope["path"].endswith(path):
                await app(scope, receive, send)
                return
            async with turn:
                await app(scope, receive, send)

        return locked

    return _around(change)


def lock_lost_with_a_client(path: str = _REGISTRATION) -> Any:
    """A request to this path takes a lock, and whoever leaves in the middle of it never gives it back."""
    until = 0.0

    def change(app: ASGIApp) -> App:
        async def locking(scope: Scope, receive: Receive, send: Send) -> None:
            nonlocal until
            if not scope["path"].endswith(path):
                await app(scope, receive, send)
                return
            if time.monotonic() < until:
                await _refuse(send, 500)
                return
            messages, again = await _all_of_its_body(receive)
            if messages[-1]["type"] == "http.disconnect":
                until = time.monotonic() + WEDGED_S
                return
            await app(scope, again, send)

        return locking

    return _around(change)


def first_piece_alone() -> Any:
    """What the first read of a body gives is taken for all of it."""

    def change(app: ASGIApp) -> App:
        async def read_once(scope: Scope, receive: Receive, send: Send) -> None:
            whole = False

            async def once() -> Message:
                nonlocal whole
                message = await receive()
                if message["type"] == "http.request" and not whole:
                    whole = True
                    return {**message, "more_body": False}
                return message

            await app(scope, once if scope["path"].endswith(_REGISTRATION) else receive, send)

        return read_once

    return _around(change)


def first_answer_for_both() -> Any:
    """A request that did not wait for its turn gets the answer of the one in front of it."""
    last: dict[Any, list[Message]] = {}

    def change(app: ASGIApp) -> App:
        async def remembering(scope: Scope, receive: Receive, send: Send) -> None:
            connection = scope["client"]
            if EARLY in scope.get("extensions", {}) and connection in last:
                for message in last[connection]:
                    await send(message)
                return
            said: list[Message] = []

            async def noted(message: Message) -> None:
                said.append(message)
                await send(message)

            await app(scope, receive, noted)
            last.clear()
            last[connection] = said

        return remembering

    return _around(change)


class Downfall:
    """Until when the one worker is being replaced."""

    until = 0.0

    def begins(self) -> None:
        self.until = time.monotonic() + WEDGED_S


def without_a_worker(downfall: Downfall) -> Any:
    def change(app: ASGIApp) -> App:
        async def served(scope: Scope, receive: Receive, send: Send) -> None:
            if time.monotonic() < downfall.until:
                await _refuse(send, 502)
            else:
                await app(scope, receive, send)

        return served

    return _around(change)


def down_after_unknown_resources(downfall: Downfall) -> Any:
    """Questions after Resources that do not exist wear it down, so many in a short time."""
    asked: deque[float] = deque(maxlen=UNKNOWN)

    def change(app: ASGIApp) -> App:
        async def counted(scope: Scope, receive: Receive, send: Send) -> None:
            async def noted(message: Message) -> None:
                if message.get("status") == 404 and scope["path"].endswith(_DISCOVERY):
                    asked.append(time.monotonic())
                    if len(asked) == UNKNOWN and asked[-1] - asked[0] < UNKNOWN_S:
                        downfall.begins()
                await send(message)

            await app(scope, receive, noted)

        return counted

    return _around(change)


class OrphansVault(Vault):
    """Whoever comes while a refresh is under way waits until the caller who began it tells its end."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self._told: dict[VaultKey, asyncio.Future[Verdict]] = {}

    async def _refresh_together(self, key: VaultKey, entry: VaultEntry, resource: Resource) -> Verdict:
        if key in self._told:
            return await asyncio.shield(self._told[key])
        told = self._told[key] = asyncio.get_running_loop().create_future()
        verdict = await self._refresh(key, entry, resource)
        del self._told[key]
        told.set_result(verdict)
        return verdict


def ending_with_its_caller() -> Any:
    """A caller who goes away takes along what is being done for it."""

    def change(app: ASGIApp) -> App:
        async def watched(scope: Scope, receive: Receive, send: Send) -> None:
            if not scope["path"].endswith(_REDEMPTION):
                await app(scope, receive, send)
                return
            _, again = await _all_of_its_body(receive)
            work = asyncio.ensure_future(app(scope, again, send))
            gone = asyncio.ensure_future(_gone(receive))
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            for task in (work, gone):
                task.cancel()
            await asyncio.gather(work, gone, return_exceptions=True)

        return watched

    return _around(change)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
