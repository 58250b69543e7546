"""Does once what a party does at its start and at its first request, so that its forks need not.

Python and OpenSSL load much at the first use: to encode a host name, to serve, to sign, to make a TLS
connection. Everything that is made here is thrown away: no fork has a key or a connection of it.
"""

from __future__ import annotations

import asyncio
import importlib
import ssl
import sys
from http import HTTPStatus
from pathlib import Path

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from uvicorn.server import ServerState

from gateproof.reference.gateway.apps import create_apps
from gateproof.reference.gateway.http_client import HttpClient
from gateproof.reference.gateway.merchants import HONEST
from gateproof.reference.self_signed import self_signed
from gateproof.reference.serving import Origin, listen, server_tls

_HOST = "127.0.0.1"
_ALGORITHM = "ES256"
_LIMIT_S = 5.0


def warm_up() -> int:
    """Signs and verifies, then asks a gateway with each client that is loaded; returns how many answers came.

    Only time is lost where that does not work.
    """
    # Host names are encoded with it.
    importlib.import_module("encodings.idna")
    key = ec.generate_private_key(ec.SECP256R1())
    token = jwt.encode({"sub": "nobody"}, key, _ALGORITHM)
    jwt.decode(token, key.public_key(), [_ALGORITHM])
    with self_signed(_HOST, key) as file:
        try:
            return asyncio.run(asyncio.wait_for(_answers(file), _LIMIT_S))
        except Exception:  # noqa: BLE001 - a fork that begins without it is slower, and no worse
            return 0


async def _answers(file: Path) -> int:
    """How many clients got an answer of a new gateway with this certificate."""
    url = f"https://{_HOST}"
    app = create_apps(base_url=url, core_url=url).base
    listener = await listen(Origin(app=app, url=url), server_tls(file, file), ServerState())
    document = f"{url}:{listener.port}/jwks"
    trust = ssl.create_default_context(cafile=file)
    try:
        statuses = [
            await _asked_by_a_gateway(document, trust),
            await _asked_by_a_service(document, trust),
            await asyncio.to_thread(_asked_by_an_agent, document, trust),
        ]
    finally:
        listener.close()
    return statuses.count(HTTPStatus.OK)


async def _asked_by_a_gateway(url: str, trust: ssl.SSLContext) -> int:
    client = HttpClient(trust)
    try:
        return (await client.request("GET", url, {}, b"", HONEST)).status
    finally:
        await client.aclose()


async def _asked_by_a_service(url: str, trust: ssl.SSLContext) -> int | None:
    # The client of services; gateways do without it.
    if "httpx" not in sys.modules:
        return None
    import httpx  # noqa: PLC0415 - only if a party uses it

    async with httpx.AsyncClient(verify=trust, trust_env=False) as client:
        try:
            return (await client.get(url)).status_code
        except httpx.HTTPError:
            return None


def _asked_by_an_agent(url: str, trust: ssl.SSLContext) -> int | None:
    wire = sys.modules.get("gateproof.reference.agent.wire")
    if wire is None:
        return None
    client = wire.Client(trust, wire.Patience(), wire.may_ask, wire.followed, wire.trusted)
    try:
        status: int = client.ask(wire.Outgoing(method="GET", url=url)).status
    except wire.Failed:
        return None
    return status
