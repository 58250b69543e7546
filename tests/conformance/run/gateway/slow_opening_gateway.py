"""`python slow_opening_gateway.py …` serves the reference, which opens its addresses a second apart."""

from __future__ import annotations

import asyncio
import ssl
import sys
from dataclasses import replace

from uvicorn.server import ServerState

from gateproof.reference.gateway.command import main as serve_gateway
from gateproof.reference.gateway.policies import Policies
from gateproof.reference.serving import Listener, Origin, listen

PAUSE_S = 1.0


async def listen_after_a_pause(origin: Origin, tls: ssl.SSLContext | None, state: ServerState) -> Listener:
    listener = await listen(origin, tls, state)
    await asyncio.sleep(PAUSE_S)
    return listener


if __name__ == "__main__":
    sys.exit(serve_gateway(sys.argv[1:], replace(Policies(), listen=listen_after_a_pause)))
