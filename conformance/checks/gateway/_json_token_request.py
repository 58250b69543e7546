"""Token requests in JSON, which some gateways read beside forms."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gateproof.conformance.checks.gateway._exchanges import TOKENS
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.suite.parties import Agent
from gateproof.conformance.wire.agent import JSON_BODY, token_endpoint
from gateproof.conformance.wire.exchange import Exchange, Request


def exchange_in_json(world: World, fields: Mapping[str, Any]) -> Exchange:
    """A code exchange in JSON; the specification shows a form."""
    gateway = world.gateway
    request = Request(
        method="POST",
        url=token_endpoint(gateway.core_url),
        headers=(JSON_BODY, ("Accept", "application/json")),
        body=json.dumps(fields).encode(),
    )
    answer = gateway.wire.send("code exchange in JSON", request)
    for name in TOKENS:
        value = answer.member(name)
        if isinstance(value, str):
            gateway.keyring.secret(name, value)
    return answer


def agent_that_may_send_json(world: World) -> Agent:
    """An agent whose correct code exchange in JSON gave tokens; left out if the gateway takes no JSON."""
    if world.worker_state.takes_json_token_requests is not False:
        authorization = world.new_code()
        answer = exchange_in_json(world, world.gateway.exchange_fields(authorization))
        world.worker_state.takes_json_token_requests = answer.status == 200
        if answer.status == 200:
            return authorization.agent
    raise LeftOut("the gateway takes no token requests in JSON")


def no_tokens_in_json(world: World, fields: Mapping[str, Any], what: str) -> None:
    """A code exchange in JSON with these fields gives no token; the answer may have any status."""
    answer = exchange_in_json(world, fields)
    require.that(answer.answer is not None, answer.step, expected="an answer", got=answer.outcome())
    came = [name for name in TOKENS if answer.member(name)]
    expect.that(
        not came,
        f"code exchange in JSON with {what}",
        expected="no tokens",
        got=f"{answer.outcome()} with {', '.join(came)}",
        exchange=answer,
    )
