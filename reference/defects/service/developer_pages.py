"""Services with a debug, status or settings page that shows a credential."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from gateproof.reference.defects.service.row import defect
from gateproof.reference.defects.service.secrets import merchant_token, proxy_secret, proxy_token
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy import redemption
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.wire import Asked as Presented
from gateproof.reference.service.wire import Outgoing

_JSON = (("content-type", "application/json"),)


def showing(
    path: str, credential: Callable[[CallFacts], str], *, to_agents_alone: bool = False
) -> dict[str, Any]:
    """The page shows a credential of the last call to the merchant."""
    last: list[str] = []

    def merchant_request(facts: CallFacts) -> Outgoing:
        last[:] = [credential(facts)]
        return redemption.merchant_request(facts)

    async def change(asked: Asked, answered: Answered, backend: Backend) -> Answered:
        if (asked.method, asked.path) != ("GET", path):
            return answered
        if to_agents_alone and not await _has_a_valid_token(asked, backend):
            return answered
        return Answered(status=200, headers=_JSON, body=json.dumps({"last": last}).encode())

    return {"merchant_request": merchant_request, "around": altering_answers(change)}


async def _has_a_valid_token(asked: Asked, backend: Backend) -> bool:
    headers = tuple(asked.headers.items())
    call = await backend.call_of(Presented(method=asked.method, path=asked.path, headers=headers))
    return isinstance(call, CallFacts)


DEFECTS = (
    defect(
        "merchant-token-on-a-page-for-agents (SECRET-02): The page /status, which requires a valid token, "
        "shows the merchant token of the last call.",
        **showing("/status", merchant_token, to_agents_alone=True),
    ),
    defect(
        "proxy-token-on-a-page-for-agents (SECRET-03): The page /debug, which requires a valid token, shows "
        "the Proxy token of the last call.",
        **showing("/debug", proxy_token, to_agents_alone=True),
    ),
    defect(
        "proxy-secret-on-a-page-for-agents (SECRET-04): The page /config, which requires a valid token, "
        "shows the Proxy client's secret.",
        **showing("/config", proxy_secret, to_agents_alone=True),
    ),
    defect(
        "merchant-token-on-a-debugging-page (SECRET-02): The page /debug, which requires no token, shows the "
        "merchant token of the last call.",
        **showing("/debug", merchant_token),
    ),
    defect(
        "proxy-token-among-the-metrics (SECRET-03): The page /metrics, which requires no token, shows the "
        "Proxy token of the last call.",
        **showing("/metrics", proxy_token),
    ),
    defect(
        "proxy-secret-on-a-page-of-settings (SECRET-04): The page /actuator/env, which requires no token, "
        "shows the Proxy client's secret.",
        **showing("/actuator/env", proxy_secret),
    ),
)
