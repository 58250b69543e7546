"""Gateways that log a client's secret when the client is created or after it is revoked."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from starlette.types import ASGIApp

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.deviations.leaks import logging
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.ids import fingerprint


def new_secrets_logged() -> dict[str, Any]:
    """Logs a new Proxy client with its secret."""
    gateways: list[Gateway] = []

    def around(app: ASGIApp, gateway: Gateway) -> ASGIApp:
        gateways.append(gateway)
        return app

    def kept(secret: str) -> str:
        gateways[0].log.write(f"created proxy_client secret={secret}")
        return fingerprint(secret)

    return {"around": around, "kept_proxy_secret": kept}


def revoked_ones_logged(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """Logs the use of a revoked Proxy client with its credentials."""
    scheme, _, given = asked.headers.get("authorization", "").partition(" ")
    if scheme == "Basic":
        try:
            client = gateway.store.proxy_clients.get(base64.b64decode(given).decode().partition(":")[0])
        except (binascii.Error, ValueError):
            return answered
        if client is not None and client.revoked:
            gateway.log.write(f"revoked client still in use: {given}")
    return answered


DEFECTS = (
    defect(
        "new-proxy-secret-in-the-log (SECRET-08): The gateway logs a new Proxy client with its secret.",
        **new_secrets_logged(),
    ),
    defect(
        "revoked-proxy-client-in-the-log (SECRET-08): The gateway logs a request of a revoked Proxy client "
        "with its credentials.",
        around=altering_answers(revoked_ones_logged),
    ),
    defect(
        "registrations-in-the-log (SECRET-08): The gateway logs the registration response with the "
        "client_secret.",
        around=logging(lambda _, answered: answered.body.decode(), "/api/register"),
    ),
)
