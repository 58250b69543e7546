"""MCP services that send results of other users in a stream."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.defects.service.mcp import sse_event
from gateproof.reference.defects.service.row import mcp_defect
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.mcp import SESSION

_A_RESULT = b'"isError": false'


def of_all(_headers: Mapping[bytes, bytes]) -> bytes:
    return b""


def of_the_session(headers: Mapping[bytes, bytes]) -> bytes:
    return headers.get(SESSION.lower().encode(), b"")


def sent_to_all(of: Callable[[Mapping[bytes, bytes]], bytes]) -> Callable[[ASGIApp, Backend], ASGIApp]:
    """Every open stream of a group gets the results of all calls in it, whoever calls or listens."""

    def around(app: ASGIApp, _backend: Backend) -> ASGIApp:
        return _broadcasting(app, of)

    return around


def _broadcasting(app: ASGIApp, of: Callable[[Mapping[bytes, bytes]], bytes]) -> ASGIApp:
    listeners: defaultdict[bytes, set[asyncio.Queue[bytes]]] = defaultdict(set)

    async def broadcasting(scope: Scope, receive: Receive, send: Send) -> None:
        group = of(dict(scope["headers"]))

        async def noting(message: Message) -> None:
            if _A_RESULT in message.get("body", b""):
                params = {"level": "info", "data": message["body"].decode()}
                said = sse_event({"jsonrpc": "2.0", "method": "notifications/message", "params": params})
                for each in listeners[group]:
                    each.put_nowait(said)
            await send(message)

        if scope["path"] != "/mcp" or scope["method"] != "GET":
            await app(scope, receive, noting)
            return
        guarded: list[Message] = []

        async def kept(message: Message) -> None:
            guarded.append(message)

        await app(scope, receive, kept)
        if guarded[0]["status"] == 401:
            for message in guarded:
                await send(message)
            return
        pending = asyncio.Queue[bytes]()
        listeners[group].add(pending)
        try:
            await _streamed(pending, receive, send)
        finally:
            listeners[group].discard(pending)

    return broadcasting


def resumed_by_anybody(app: ASGIApp, _backend: Backend) -> ASGIApp:
    """Events have numbers, and any user can resume a stream at any event of any user."""
    events: list[bytes] = []

    async def resuming(scope: Scope, receive: Receive, send: Send) -> None:
        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [pair for pair in message["headers"] if pair[0].lower() != b"content-length"]
                message = {**message, "headers": kept}
            if _A_RESULT in message.get("body", b""):
                events.append(message["body"])
                message = {**message, "body": b"id: %d\n%b" % (len(events), message["body"])}
            await send(message)

        wanted = dict(scope["headers"]).get(b"last-event-id", b"")
        if scope["path"] != "/mcp" or scope["method"] != "GET" or not wanted.isdigit():
            await app(scope, receive, noting)
            return
        guarded: list[Message] = []

        async def withheld(message: Message) -> None:
            guarded.append(message)

        await app(scope, receive, withheld)
        if guarded[0]["status"] == 401:
            for message in guarded:
                await send(message)
            return
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        rest = events[max(0, int(wanted) - 1) :]
        await send({"type": "http.response.body", "body": b"".join(rest) or b": nothing\n\n"})

    return resuming


async def _streamed(pending: asyncio.Queue[bytes], receive: Receive, send: Send) -> None:
    """Sends all queued events until the client disconnects."""
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b": welcome\n\n", "more_body": True})
    gone = asyncio.ensure_future(_disconnected(receive))
    while not gone.done():
        said = asyncio.ensure_future(pending.get())
        await asyncio.wait({gone, said}, return_when=asyncio.FIRST_COMPLETED)
        if said.done():
            await send({"type": "http.response.body", "body": said.result(), "more_body": True})
        else:
            said.cancel()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


DEFECTS = (
    mcp_defect(
        "streams-resumed-by-anybody (BACK-10): A user with a valid token can resume a stream at any event, "
        "even of another user.",
        around=resumed_by_anybody,
    ),
    mcp_defect(
        "results-told-to-all-who-listen (BACK-10): The service sends the result of every call as a "
        "notification to all open streams, even of other users.",
        around=sent_to_all(of_all),
    ),
    mcp_defect(
        "results-told-in-the-session (BACK-10): The service sends the result of every call in a session as a "
        "notification to all who listen in that session, even with another user's token.",
        around=sent_to_all(of_the_session),
    ),
)
