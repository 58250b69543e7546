"""Wrappers around a correct gateway that hold locks too long, or cancel work with its caller."""

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

# Longer than any check waits for a recovery.
WEDGED_S = 25.0
# Marks a request that came before the previous one was answered.
PIPELINED = "defect.early"
_REDEMPTION, _REGISTRATION = "/api/credentials/token", "/api/register"
_DISCOVERY = "/.well-known/openid-configuration"
# The number of discovery requests for unknown Resources within this time that stops the worker.
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
    """Reads one request body at a time, and lets all other requests wait."""
    reading = asyncio.Lock()

    def change(app: ASGIApp) -> App:
        async def read_first(scope: Scope, receive: Receive, send: Send) -> None:
            async with reading:
                _, again = await _all_of_its_body(receive)
            await app(scope, again, send)

        return read_first

    return _around(change)


def one_at_a_time(path: str = _REDEMPTION) -> Any:
    """Serves one request to this path at a time."""
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
    """Takes a lock for a request to this path, and keeps it if the client disconnects."""
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
    """Takes the first piece of a body for the whole body."""

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
    """Gives a request that did not wait for the previous answer the same answer again."""
    last: dict[Any, list[Message]] = {}

    def change(app: ASGIApp) -> App:
        async def remembering(scope: Scope, receive: Receive, send: Send) -> None:
            connection = scope["client"]
            if PIPELINED in scope.get("extensions", {}) and connection in last:
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


class Outage:
    """The time until which the only worker is being replaced."""

    until = 0.0

    def begins(self) -> None:
        self.until = time.monotonic() + WEDGED_S


def without_a_worker(downfall: Outage) -> Any:
    def change(app: ASGIApp) -> App:
        async def served(scope: Scope, receive: Receive, send: Send) -> None:
            if time.monotonic() < downfall.until:
                await _refuse(send, 502)
            else:
                await app(scope, receive, send)

        return served

    return _around(change)


def outage_after_unknown_resources(downfall: Outage) -> Any:
    """Stops the worker after many discovery requests for unknown Resources in a short time."""
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


class UnfinishedRefreshVault(Vault):
    """Callers wait for a refresh that another caller started, for ever if that caller disconnects."""

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


def cancelled_on_disconnect() -> Any:
    """Cancels the work for a caller that disconnects."""

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
