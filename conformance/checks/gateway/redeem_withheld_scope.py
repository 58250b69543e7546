"""The redemption scope, requested by an agent from which it is withheld."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gateproof.conformance.checks.gateway._exchanges import no_tokens, refresh
from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.suite.parties import Attempt
from gateproof.conformance.wire.exchange import Exchange

SCOPE = "ext_token:read"
Asked = Callable[[World, Attempt], Exchange]


def _in_the_authorization_request(world: World, attempt: Attempt) -> Exchange:
    asking = replace(attempt, parameters={**attempt.parameters, "scope": _with_the_scope(attempt)})
    return world.gateway.exchange(world.authorization_of(asking, _code(world, asking)))


def _in_the_exchange(world: World, attempt: Attempt) -> Exchange:
    authorization = world.authorization_of(attempt, _code(world, attempt))
    return world.gateway.exchange(authorization, scope=_with_the_scope(attempt))


def _in_a_refresh(world: World, attempt: Attempt) -> Exchange:
    grant = world.grant_of(world.code_for(attempt), attempt)
    further = ("scope", _with_the_scope(attempt))
    return refresh(world.gateway, grant.agent, grant.refresh_token.reveal(), further)


PLACES: dict[str, Asked] = {
    "authorization-request": _in_the_authorization_request,
    "exchange": _in_the_exchange,
    "refresh": _in_a_refresh,
}


@check("REDEEM-08", cases=PLACES)
def withheld_scope_does_not_come_for_the_asking(gateway: Gateway, world: World, case: Asked) -> None:
    """Requesting ext_token:read does not give it to an agent from which it is withheld; a 4xx is allowed."""
    agent, proxy_token = world.agents.new(), world.backend.proxy_token()
    world.backend.require_redeemed(world.grant(agent=agent), proxy_token)
    console.withhold_redemption_scope(world, agent)
    attempt = world.attempt(agent)

    came = case(world, attempt)
    if came.status in range(400, 500):
        no_tokens(came, f"the scope {SCOPE}")
        return
    token = require.text(require(came).status(200).member("access_token"), "access_token")
    asked = gateway.keyring.secret("access_token", token)
    answer = gateway.redeem(asked, proxy_token, attempt.resource.indicator)

    expect(answer).status(401)
    expect(answer).not_granted("the merchant token", "access_token")


def _with_the_scope(attempt: Attempt) -> str:
    asked = attempt.parameters["scope"].split()
    return " ".join(dict.fromkeys((*asked, SCOPE)))


def _code(world: World, attempt: Attempt) -> str:
    code = world.gateway.visit(attempt, wherever=True).parameter("code")
    if code is None:
        raise LeftOut("an authorization request that names the scope is refused")
    return code
