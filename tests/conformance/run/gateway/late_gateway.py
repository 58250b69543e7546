"""`python late_gateway.py …` serves the reference, which thinks for 300 ms before it answers anything."""

from __future__ import annotations

import asyncio
import ssl
import sys
from dataclasses import replace

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.server import ServerState

from gateproof.reference.gateway.command import main as serve_gateway
from gateproof.reference.gateway.policies import Policies
from gateproof.reference.serving import Listener, Origin, listen

DELAY_S = 0.3


def late(app: ASGIApp) -> ASGIApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(DELAY_S)
        await app(scope, receive, send)

    return answer


async def listen_late(origin: Origin, tls: ssl.SSLContext | None, state: ServerState) -> Listener:
    return await listen(replace(origin, app=late(origin.app)), tls, state)


if __name__ == "__main__":
    sys.exit(serve_gateway(sys.argv[1:], replace(Policies(), listen=listen_late)))
