"""Services that cancel a call when its caller disconnects, and keep a lock."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from types import TracebackType

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.backend import Backend


def cancelled_on_disconnect(app: ASGIApp, _backend: Backend) -> ASGIApp:
    """A call is cancelled when the connection of its caller ends."""

    async def around(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        messages: list[Message] = []
        while not messages or messages[-1].get("more_body"):
            messages.append(await receive())
        waiting = iter(messages)
        gone = asyncio.Event()

        async def replayed() -> Message:
            message = next(waiting, None)
            if message is None:
                await gone.wait()
            return message or {"type": "http.disconnect"}

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            gone.set()
            call.cancel()

        call = asyncio.ensure_future(app(scope, replayed, send))
        watching = asyncio.ensure_future(watch())
        try:
            with suppress(asyncio.CancelledError):
                await call
        finally:
            watching.cancel()

    return around


class _KeptByTheCancelled:
    """`lock.acquire()`, and `except Exception: lock.release(); raise`: CancelledError is not an Exception."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def __aenter__(self) -> None:
        await self._lock.acquire()

    async def __aexit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if kind is None or issubclass(kind, Exception):
            self._lock.release()


DEFECTS = (
    defect(
        "lock-kept-by-a-cancelled-call (ROBUST-02): If a caller disconnects while the service requests a "
        "Proxy token, the lock is never released.",
        around=cancelled_on_disconnect,
        one_at_a_time=_KeptByTheCancelled,
        # Callers that wait for the lock get an error soon.
        deadline_s=3,
    ),
)
