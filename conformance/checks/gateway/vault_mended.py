"""A new authorization of the user makes redemption work again."""

from __future__ import annotations

from typing import Any

from gateproof.conformance.checks.gateway._held_refreshes import HELD_S, redeeming_while_held
from gateproof.conformance.checks.gateway._reauthentication_scripts import REAUTHENTICATION_SCRIPTS
from gateproof.conformance.kit.gateway.failure_oracle import expiring_soon
from gateproof.conformance.kit.gateway.isolated_user import (
    IsolatedUser,
    expect_orders,
    isolated_user,
    let_expire,
    needing_reauthorization,
)
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unmet, expect, observe, require, rule_requires
from gateproof.conformance.suite.parties import Agent
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret


@check("VAULT-04", alone=True, cases=REAUTHENTICATION_SCRIPTS)
def new_authorization_mends_it(world: World, case: dict[str, Any]) -> None:
    """After a 410 and a new authorization in another browser, redemption returns a token that works.

    A gateway that provisions in the background may answer 410 until it is done, as it may answer 404 before a
    first token.
    """
    _mended_after_a_410(world, case)


@check("VAULT-04", needs=["sign-in:browser"], alone=True, cases=REAUTHENTICATION_SCRIPTS)
def new_authorization_in_the_same_browser_mends_it(world: World, case: dict[str, Any]) -> None:
    """After a 410 and a new authorization in the same browser, redemption returns a token that works."""
    _mended_after_a_410(world.in_one_browser(), case)


@check("VAULT-04", alone=True)
def authorization_of_another_agent_mends_it(world: World) -> None:
    """After a 410, authorization of another agent is enough: agents share the cached token of a user."""
    alone = isolated_user(world)
    proxy_token, _, _ = needing_reauthorization(
        alone, world.agents.new(), **REAUTHENTICATION_SCRIPTS["refresh-rejected"]
    )
    alone.script()
    with rule_requires():
        renewed = alone.grant(world.agents.new())

    _works(alone, world.backend.redeem_after_backoff(renewed, proxy_token, not_yet=(404, 410)))


@check("VAULT-04", alone=True)
def rejection_of_the_old_token_spares_the_new_one(world: World) -> None:
    """If the old token's refresh is rejected after the user has authorized again, redemption works.

    The merchant holds the refresh until then. If a gateway makes the authorization wait for the refresh, the
    merchant answers it after some seconds.
    """
    alone, agent, gate = isolated_user(world), world.agents.new(), world.unique()
    due = expiring_soon(alone, agent)
    alone.short_lived(refresh={"outcome": "hold_then_reject", "gate": gate, "seconds": HELD_S})
    let_expire(world)
    with redeeming_while_held(due, gate):
        alone.script()
        renewed = alone.grant(agent)
    require.that(
        any(entry.outcome == "hold_then_reject" for entry in due.refreshes()),
        "journal of the fake merchant",
        expected="a refresh that it rejected",
        got="none",
    )

    for _ in range(2):
        _works(alone, world.backend.redeem_once_provisioned(renewed, due.proxy_token, not_yet=(404, 410)))


@check("VAULT-04", needs=["sign-in:browser"])
def new_sign_in_after_a_404_mends_it(world: World) -> None:
    """After a 404 because of failed provisioning, and a sign-in in another browser, redemption works.

    The effect of an authorization in a browser that is still signed in is recorded.
    """
    alone, agent = isolated_user(world, own=True), world.agents.new()
    proxy_token = _not_provisioned(alone, agent)

    renewed = alone.grant(agent)

    _works(alone, world.backend.redeem_once_provisioned(renewed, proxy_token))
    if world.gateway.new_browser is not None:
        # An agent may be limited to one Project.
        alone, agent = isolated_user(world.in_one_browser(), own=True), world.agents.new()
        proxy_token = _not_provisioned(alone, agent)
        again = world.backend.redeem_once_provisioned(alone.grant(agent), proxy_token)
        observe(after_a_404_in_the_same_browser=again.status or 0)


def _mended_after_a_410(world: World, case: dict[str, Any]) -> None:
    alone, agent = isolated_user(world), world.agents.new()
    proxy_token, _, _ = needing_reauthorization(alone, agent, **case)
    alone.script()
    with rule_requires():
        renewed = alone.grant(agent)

    _works(alone, world.backend.redeem_after_backoff(renewed, proxy_token, not_yet=(404, 410)))


def _works(alone: IsolatedUser, answer: Exchange) -> None:
    """The redemption answers 200 with a token that the merchant accepts."""
    expect(answer).status(200)
    expect_orders(alone, expect.text(answer.member("access_token"), "access_token of the redemption"))


def _not_provisioned(alone: IsolatedUser, agent: Agent) -> Secret:
    """A Proxy token; redemption has answered 404, as the merchant rejected the user's assertion."""
    proxy_token = alone.proxy_token()
    alone.script(provisioning="reject")
    grant = alone.grant(agent)
    try:
        alone.require_outcome("reject")
    except Unmet as unmet:
        raise LeftOut("the gateway gets merchant tokens by the grant that signs users in") from unmet
    resource = grant.resource
    require(alone.world.gateway.redeem(grant.access_token, proxy_token, resource.indicator)).status(404)
    alone.script()
    return proxy_token
