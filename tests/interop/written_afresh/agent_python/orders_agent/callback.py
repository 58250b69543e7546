"""The HTTPS address on loopback at which the user's browser delivers the redirect."""

from __future__ import annotations

import asyncio
import hmac
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from .errors import AgentError
from .settings import Settings

MAX_HEAD = 65536
HEAD_TIMEOUT_S = 10.0
DONE = "You can close this window and go back to the agent."
NOT_OURS = "This is not what the agent is waiting for."


@dataclass(frozen=True)
class Redirect:
    code: str | None
    error: str | None
    issuer: str | None


class Callback:
    """Takes the first redirect that has the state of this authorization, and passes over everything else."""

    def __init__(self, path: str, state: str) -> None:
        self._path = path
        self._state = state.encode()
        self._redirect: asyncio.Future[Redirect] = asyncio.get_running_loop().create_future()

    async def wait(self, seconds: float) -> Redirect:
        try:
            return await asyncio.wait_for(asyncio.shield(self._redirect), seconds)
        except TimeoutError:
            raise AgentError("No approval has arrived. The agent may be waiting for the operator to approve it: try again later.") from None

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(HEAD_TIMEOUT_S):
                head = await reader.readuntil(b"\r\n\r\n")
                taken = self._take(head.split(b"\r\n", 1)[0].decode("latin-1"))
                writer.write(_page("200 OK", DONE) if taken else _page("400 Bad Request", NOT_OURS))
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            pass  # a browser that gave up, or something else that was no redirect
        finally:
            writer.close()

    def _take(self, request_line: str) -> bool:
        method, _, rest = request_line.partition(" ")
        target = rest.partition(" ")[0]
        try:
            parts = urlsplit(target)
            query = parse_qs(parts.query, keep_blank_values=True)
        except ValueError:
            return False
        if method != "GET" or parts.path != self._path or self._redirect.done():
            return False
        # Parameters that are repeated make a redirect ambiguous; there is no telling which one is meant.
        if any(len(query.get(name, [])) > 1 for name in ("state", "code", "error", "iss")):
            return False
        if not hmac.compare_digest(_one(query, "state", "").encode("utf-8", "replace"), self._state):
            return False
        self._redirect.set_result(Redirect(_one(query, "code"), _one(query, "error"), _one(query, "iss")))
        return True


def _one(query: dict[str, list[str]], name: str, default: str | None = None) -> str | None:
    return query[name][0] if name in query else default


def _page(status: str, text: str) -> bytes:
    body = f"<!doctype html><title>Orders agent</title><p>{text}</p>".encode()
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


@asynccontextmanager
async def listening(settings: Settings, state: str) -> AsyncIterator[Callback]:
    address = urlsplit(settings.callback_url)
    callback = Callback(address.path or "/", state)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(settings.tls_cert_file, settings.tls_key_file)
    try:
        server = await asyncio.start_server(callback.handle, address.hostname, address.port or 443, ssl=context, limit=MAX_HEAD)
    except OSError:
        raise AgentError("The callback address is in use: is the agent running already?") from None
    try:
        yield callback
    finally:
        server.close()
