"""Services with a page for whoever develops them, which shows whoever asks what is at hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from gateproof.reference.defects.service.row import defect
from gateproof.reference.defects.service.secrets import merchant_token, proxy_secret, proxy_token
from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy import redemption
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.wire import Outgoing

_JSON = (("content-type", "application/json"),)


def showing(path: str, credential: Callable[[CallFacts], str]) -> dict[str, Any]:
    """The page shows a credential of the call to the merchant that came last."""
    last: list[str] = []

    def merchant_request(facts: CallFacts) -> Outgoing:
        last[:] = [credential(facts)]
        return redemption.merchant_request(facts)

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        if (asked.method, asked.path) != ("GET", path):
            return answered
        return Answered(status=200, headers=_JSON, body=json.dumps({"last": last}).encode())

    return {"merchant_request": merchant_request, "around": meddling(change)}


DEFECTS = (
    defect(
        "merchant-token-on-a-debugging-page (SECRET-02): A page that needs no token shows the merchant "
        "token of the last call.",
        **showing("/debug", merchant_token),
    ),
    defect(
        "proxy-token-among-the-metrics (SECRET-03): The metrics, which need no token, show the Proxy token "
        "of the last call.",
        **showing("/metrics", proxy_token),
    ),
    defect(
        "proxy-secret-on-a-page-of-settings (SECRET-04): A page that needs no token shows the settings with "
        "the Proxy client's secret.",
        **showing("/actuator/env", proxy_secret),
    ),
)
