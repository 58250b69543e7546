"""Access tokens from the refresh grant, if the gateway supports it in the form of RFC 6749."""

from __future__ import annotations

import time
from dataclasses import replace
from math import inf

from gateproof.conformance.checks.gateway._exchanges import refresh
from gateproof.conformance.kit.gateway.worker_state import Renewed
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import LeftOut, NotApplicable, UsedUp
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.suite.time_limits import LEEWAY_S
from gateproof.conformance.wire.documents import strings_in
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.jose import read
from gateproof.conformance.wire.secret import Secret

# Checks do not wait for the expiry of longer-lived access tokens: it would move the clock too far for others.
LONGEST_LIFE_S = 90 * 86_400
# A check may take this long with the token.
SPARE_S = 30
UNKNOWN = "the refresh grant of RFC 6749 is not supported"


def refreshable(world: World, otherwise: type[LeftOut | NotApplicable] = LeftOut) -> Grant:
    """Tokens of an agent whose previous refresh token gave new ones.

    Checks test their other needs after this: without refresh support they do not apply at all.
    """
    world = world.in_one_browser()
    agent = world.agents.new()
    twin = world.grant(agent=agent)
    answer = refresh(world.gateway, agent, twin.refresh_token.reveal())
    _raise_if_used_up(answer)
    if answer.status != 200 or not isinstance(answer.member("access_token"), str):
        raise otherwise(UNKNOWN)
    return world.grant(agent=agent)


def reused_refreshed_grant(world: World) -> Grant:
    """A grant at the home Resource whose access token comes from a refresh.

    The specification defines no refresh request. A gateway that refuses it, or that returns a token for
    something else, is therefore not judged: the token counts only if it redeems or names the Resource. All
    callers get the same token, until it is about to expire, the target's clock is moved, or a key is rotated.
    """
    kept = world.worker_state.renewed
    if kept is None or kept.offset_s != world.clock.offset_s or time.monotonic() > kept.until:
        before, kept = kept, _renewed(world)
        if kept.grant is None and before is not None and before.grant is not None:
            raise LeftOut("a refresh gives no tokens any more, after it gave some")
        world.worker_state.renewed = kept
    if kept.grant is None:
        raise LeftOut(UNKNOWN)
    world.projects.home()
    world.gateway.keyring.add(kept.grant.access_token)
    world.gateway.keyring.public(kept.grant.agent.client_id)
    return kept.grant


def refreshed_grant(world: World, grant: Grant) -> Grant:
    """The given grant after a refresh; `reused_refreshed_grant` has shown that refresh is supported.

    A gateway may revoke an agent's earlier tokens when the user authorizes the agent again.
    """
    return refresh_or_leave_out(
        world, grant, "a later authorization of the same agent ends the refresh token of an earlier one"
    )


def refresh_or_leave_out(world: World, grant: Grant, otherwise: str) -> Grant:
    """The given grant after a refresh; left out if the gateway refreshes other grants but not this one."""
    reused_refreshed_grant(world)
    fresh = _refreshed(world, grant)
    if fresh is None:
        raise LeftOut(otherwise)
    return fresh


def refresh_after_expiry(world: World, grant: Grant) -> Grant:
    """The given grant, refreshed after its access token has expired."""
    life_s = world.clock.life_s(grant.access_token, grant.answer)
    if not life_s < LONGEST_LIFE_S:
        raise LeftOut("access tokens live too long to wait for their end")
    world.clock.advance(max(0, round(life_s)) + LEEWAY_S)
    return refresh_or_leave_out(world, grant, "a refresh is refused when the access token has expired")


def _renewed(world: World) -> Renewed:
    begun, grant = time.monotonic(), _fresh(world)
    life_s = inf if grant is None else world.clock.life_s(grant.access_token, grant.answer)
    return Renewed(grant=grant, offset_s=world.clock.offset_s, until=begun + life_s - SPARE_S)


def _raise_if_used_up(answer: Exchange) -> None:
    """A refusal after the gateway asked to send the token again does not say that refresh is unknown."""
    if answer.may_be_used_up:
        raise UsedUp("it asked to send a refresh token again later, and then refused it")


def _fresh(world: World) -> Grant | None:
    fresh = _refreshed(world, world.grant())
    if fresh is None:
        return None
    parsed = read(fresh.access_token.reveal())
    if parsed is None:
        return None
    named = fresh.resource.indicator in strings_in({"aud": parsed.claims.get("aud")})
    return (
        fresh
        if named or world.backend.redeem_once_provisioned(fresh, world.backend.proxy_token()).status == 200
        else None
    )


def _refreshed(world: World, grant: Grant) -> Grant | None:
    answer = refresh(world.gateway, grant.agent, grant.refresh_token.reveal())
    _raise_if_used_up(answer)
    token = answer.member("access_token")
    if answer.status != 200 or not isinstance(token, str) or not token:
        return None
    newest = answer.member("refresh_token")
    return replace(
        grant,
        access_token=world.gateway.keyring.secret("access_token", token),
        refresh_token=Secret("refresh_token", newest)
        if isinstance(newest, str) and newest
        else grant.refresh_token,
        answer=answer,
    )
