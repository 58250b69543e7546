"""MCP services that show credentials in resource templates or errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from gateproof.reference.defects.service.mcp import method_of
from gateproof.reference.defects.service.mcp_operations import json_rpc_result
from gateproof.reference.defects.service.row import mcp_defect
from gateproof.reference.defects.service.secrets import merchant_token, proxy_token
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy import redemption
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.wire import Outgoing

_TEMPLATE = {"uriTemplate": "state://{name}", "name": "state"}


def state_by_its_name(credential: Callable[[CallFacts], str]) -> dict[str, Any]:
    """A resource template, which requires a token, shows a credential of the last call for any name."""
    last: list[str] = []

    def merchant_request(facts: CallFacts) -> Outgoing:
        last[:] = [credential(facts)]
        return redemption.merchant_request(facts)

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        if asked.path != "/mcp" or answered.status != 200:
            return answered
        if method_of(asked) == "resources/templates/list":
            return json_rpc_result(asked, {"resourceTemplates": [_TEMPLATE]})
        uri = _params(asked).get("uri") if method_of(asked) == "resources/read" else None
        if not isinstance(uri, str) or not uri.startswith("state://"):
            return answered
        text = json.dumps({"name": uri.removeprefix("state://"), "last": last})
        return json_rpc_result(
            asked, {"contents": [{"uri": uri, "mimeType": "application/json", "text": text}]}
        )

    return {"merchant_request": merchant_request, "around": altering_answers(change)}


def helpful(asked: Asked, answered: Answered, backend: Backend) -> Answered:
    """The error for an unknown tool contains the Proxy client's ID."""
    if method_of(asked) != "tools/call" or b"no such tool" not in answered.body:
        return answered
    text = f"There is no such tool. Ask the operator of {backend.settings.proxy_client_id}."
    return json_rpc_result(asked, {"content": [{"type": "text", "text": text}], "isError": True})


def _params(asked: Asked) -> dict[str, Any]:
    params = json.loads(asked.body).get("params")
    return params if isinstance(params, dict) else {}


DEFECTS = (
    mcp_defect(
        "merchant-token-by-a-template (SECRET-02): A resource template shows the merchant token of the last "
        "call.",
        **state_by_its_name(merchant_token),
    ),
    mcp_defect(
        "proxy-token-by-a-template (SECRET-03): A resource template shows the Proxy token of the last call.",
        **state_by_its_name(proxy_token),
    ),
    mcp_defect(
        "proxy-client-in-the-error-for-a-tool (SECRET-04): The error for an unknown tool contains the Proxy "
        "client's ID.",
        around=altering_answers(helpful),
    ),
)
