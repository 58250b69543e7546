"""Services that redeem for the Resource that an agent names."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

from gateproof.reference.defects.service.row import defect, mcp_defect
from gateproof.reference.service.policy import redemption
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.wire import Asked, Outgoing

Named = Callable[[Asked], Any]


def in_the_query(asked: Asked) -> Any:
    return next(iter(parse_qs(asked.query).get("resource", ())), None)


def in_a_header(asked: Asked) -> Any:
    return next(iter(asked.headers_named("x-resource")), None)


def in_the_arguments(asked: Asked) -> Any:
    """The argument `resource` of a tool call."""
    arguments = json.loads(asked.body)["params"].get("arguments")
    return arguments.get("resource") if isinstance(arguments, dict) else None


def redeeming_for(named: Named) -> Callable[[CallFacts], Outgoing]:
    """`{ resource: req.query.resource ?? config.indicator }`."""

    def request(facts: CallFacts) -> Outgoing:
        asked = redemption.redemption_request(facts)
        resource = named(facts.asked)
        return asked if resource is None else replace(asked, body=json.dumps({"resource": resource}).encode())

    return request


DEFECTS = (
    defect(
        "resource-of-the-query (BACK-04): The service redeems for the Resource that the query names, if "
        "there is one.",
        redemption_request=redeeming_for(in_the_query),
    ),
    defect(
        "resource-of-a-header (BACK-04): The service redeems for the Resource in X-Resource, if there is "
        "one.",
        redemption_request=redeeming_for(in_a_header),
    ),
    mcp_defect(
        "resource-of-the-arguments (BACK-04): The service redeems for the Resource in the arguments of a "
        "tool call, if there is one.",
        redemption_request=redeeming_for(in_the_arguments),
    ),
)
