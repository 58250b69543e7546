"""Services whose error for a body that they cannot read shows their settings."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

from gateproof.reference.defects.service.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.settings import Settings

_JSON = (("content-type", "application/json"),)


def showing(what: Callable[[Settings], str]) -> Callable[[Asked, Answered, Backend], Answered]:
    def change(asked: Asked, answered: Answered, backend: Backend) -> Answered:
        try:
            json.loads(asked.body or b"{}")
        except (ValueError, RecursionError):
            body = json.dumps({"error": "bad_request", "context": what(backend.settings)}).encode()
            return Answered(status=400, headers=_JSON, body=body)
        return answered

    return change


def basic(settings: Settings) -> str:
    pair = f"{settings.proxy_client_id}:{settings.proxy_client_secret}"
    return base64.b64encode(pair.encode()).decode()


DEFECTS = (
    defect(
        "proxy-secret-in-a-parse-error (SECRET-04): The error for a body that is no JSON has the Proxy "
        "client's secret in it.",
        around=meddling(showing(lambda settings: settings.proxy_client_secret)),
    ),
    defect(
        "proxy-client-in-a-service-parse-error (SECRET-04): The error for a body that is no JSON names the "
        "Proxy client's ID.",
        around=meddling(showing(lambda settings: settings.proxy_client_id)),
    ),
    defect(
        "basic-in-a-parse-error (SECRET-04): The error for a body that is no JSON has the Proxy client's "
        "Basic header.",
        around=meddling(showing(basic)),
    ),
)
