"""Secrets in answers: everything that a party received is searched for secrets it must not see."""

from __future__ import annotations

from typing import Any

from gateproof.conformance.checks.gateway import _secret_probes as probes
from gateproof.conformance.checks.gateway._reauthentication_scripts import REAUTHENTICATION_SCRIPTS
from gateproof.conformance.checks.gateway._secrecy import no_secrets_in_answers
from gateproof.conformance.kit.gateway import failure_oracle
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.isolated_user import (
    isolated_user,
    let_expire,
    needing_reauthorization,
)
from gateproof.conformance.kit.gateway.received import Received, RunTotals, brought_up
from gateproof.conformance.kit.gateway.valid_tokens import valid_tokens
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unavailable, Unmet, expect, require
from gateproof.conformance.suite.parties import Project
from gateproof.conformance.wire.secret import Secret

REFRESH_TOKEN, ACCESS_TOKEN = "merchant_refresh_token", "merchant_access_token"
PROXY_TOKEN, PROXY_CLIENT = "proxy_token", ("proxy_client_secret", "proxy_client_id")
# The merchant's possible behaviour when a refresh token is used.
REFRESHES: dict[str, dict[str, Any]] = {
    "refreshed": {},
    "rotated": {"rotate_refresh_tokens": True},
    "rejected": {"refresh": "reject"},
    "failing": {"refresh": "server_error"},
    "nonsense": {"refresh": "wrong_shape"},
}


@check("SECRET-01")
def refresh_token_is_not_in_what_a_sign_in_brings(world: World, received: Received) -> None:
    """The merchant refresh token is in no answer of a sign-in or of the redemption after it."""
    grant = world.grant()
    world.backend.require_redeemed(grant, world.backend.proxy_token())

    no_secrets_in_answers(world, received, REFRESH_TOKEN)


@check("SECRET-01", alone=True, cases=REFRESHES)
def refresh_token_is_not_in_what_its_use_brings(
    world: World, received: Received, case: dict[str, Any]
) -> None:
    """The answer to a redemption that causes a refresh does not contain the refresh token.

    The merchant answers the refresh in several ways.
    """
    alone = isolated_user(world, own=True)
    due = failure_oracle.expiring_soon(alone)
    alone.short_lived(**case)
    let_expire(world)
    # If the gateway answers with Retry-After while its merchant fails, that answer is searched as it is.
    due.redeem_once()
    if not due.refreshes():
        raise LeftOut("the gateway has not used the refresh token")
    due.redeem_once()

    no_secrets_in_answers(world, received, REFRESH_TOKEN)


@check("SECRET-01")
def refresh_token_is_in_no_refusal(gateway: Gateway, world: World, received: Received) -> None:
    """Answers to refused redemptions and to requests with debug options do not contain the refresh token."""
    good = valid_tokens(world)
    probes.send(gateway, probes.refused_redemptions(gateway, good))
    probes.send(gateway, probes.agents_side(gateway, world, good))

    no_secrets_in_answers(world, received, REFRESH_TOKEN)


@check("SECRET-02")
def access_token_is_not_on_the_agents_side(gateway: Gateway, world: World, received: Received) -> None:
    """No answer to an agent contains the user's merchant token that the gateway holds."""
    good = valid_tokens(world)
    probes.send(gateway, probes.agents_side(gateway, world, good))

    no_secrets_in_answers(world, received, ACCESS_TOKEN)


@check("SECRET-02")
def access_token_is_not_in_a_second_sign_in(world: World, received: Received) -> None:
    """A second sign-in of a user with a merchant token shows that token in no answer."""
    first = world.grant()
    world.backend.require_redeemed(first, world.backend.proxy_token())
    authorization = world.new_code(user=first.user)
    require(world.gateway.exchange(authorization)).status(200)
    world.gateway.exchange(authorization)
    world.gateway.visit(world.attempt(user=first.user), approve=False, wherever=True)

    no_secrets_in_answers(world, received, ACCESS_TOKEN)


@check("SECRET-02")
def access_token_is_in_no_refused_redemption(gateway: Gateway, world: World, received: Received) -> None:
    """The answer to a refused redemption does not contain the merchant token, in any header or encoding."""
    good = valid_tokens(world)
    foreign = _foreign(world)
    probes.send(gateway, probes.refused_redemptions(gateway, good, foreign))

    no_secrets_in_answers(world, received, ACCESS_TOKEN)


@check("SECRET-02", alone=True, cases=REAUTHENTICATION_SCRIPTS)
def expired_access_token_is_in_no_410(world: World, received: Received, case: dict[str, Any]) -> None:
    """The two 410 and the 404 for a merchant token that cannot be refreshed do not contain it."""
    world.backend.require_redeemed(world.grant(), world.backend.proxy_token())
    proxy_token, grant, _ = needing_reauthorization(isolated_user(world), **case)
    for resource in (grant.resource.indicator, f"{grant.resource.indicator}x"):
        world.gateway.redeem(grant.access_token, proxy_token, resource)

    no_secrets_in_answers(world, received, ACCESS_TOKEN)


@check("SECRET-03")
def proxy_token_is_in_no_redemption(gateway: Gateway, world: World, received: Received) -> None:
    """No redemption answer, success or refusal, contains the Proxy token."""
    good = valid_tokens(world)
    probes.send(gateway, probes.refused_redemptions(gateway, good, _foreign(world)))

    no_secrets_in_answers(world, received, PROXY_TOKEN)


@check("SECRET-03")
def proxy_token_is_in_no_other_answer(gateway: Gateway, world: World, received: Received) -> None:
    """A Proxy token sent to other endpoints is in none of the answers."""
    good = valid_tokens(world)
    client = world.projects.home().proxy_client
    probes.send(gateway, probes.backends_side(gateway, client, good.proxy_token))

    no_secrets_in_answers(world, received, PROXY_TOKEN)


@check("SECRET-03")
def proxy_token_is_not_on_the_agents_side(gateway: Gateway, world: World, received: Received) -> None:
    """No answer to an agent contains the Proxy token that has just redeemed."""
    good = valid_tokens(world)
    world.backend.require_redeemed(world.grant(), good.proxy_token)
    probes.send(gateway, probes.agents_side(gateway, world, good))

    no_secrets_in_answers(world, received, PROXY_TOKEN)


@check("SECRET-04")
def proxy_secret_is_in_no_answer_to_the_backend(gateway: Gateway, world: World, received: Received) -> None:
    """No answer to a Proxy client contains its secret."""
    client, proxy_token = world.projects.home().proxy_client, world.backend.proxy_token()
    probes.send(gateway, probes.backends_side(gateway, client, proxy_token))

    no_secrets_in_answers(world, received, *PROXY_CLIENT)


@check("SECRET-04")
def proxy_client_is_not_on_the_agents_side(gateway: Gateway, world: World, received: Received) -> None:
    """No answer to an agent or browser contains the Proxy client's ID or secret."""
    good = valid_tokens(world)
    world.backend.require_redeemed(world.grant(), good.proxy_token)
    probes.send(gateway, probes.agents_side(gateway, world, good))

    no_secrets_in_answers(world, received, *PROXY_CLIENT)


@check("SECRET-01", whole_run=True)
def merchant_refresh_token_was_nowhere_in_the_run(survey: RunTotals) -> None:
    """No answer of the whole run contained a merchant refresh token."""
    require.that(survey.redeemed > 0, "the run", expected="a redemption that succeeded", got="none")
    _clean(survey, REFRESH_TOKEN)


@check("SECRET-02", whole_run=True)
def merchant_access_token_was_in_redemptions_alone(survey: RunTotals) -> None:
    """No answer of the whole run except successful redemptions contained a merchant access token."""
    require.that(survey.redeemed > 0, "the run", expected="a redemption that succeeded", got="none")
    _clean(survey, ACCESS_TOKEN)


@check("SECRET-03", whole_run=True)
def proxy_token_was_in_its_own_answer_alone(survey: RunTotals) -> None:
    """No answer of the whole run contained a Proxy token, except the one that issued it."""
    require.that(survey.redeemed > 0, "the run", expected="a redemption that succeeded", got="none")
    _clean(survey, PROXY_TOKEN)


@check("SECRET-04", whole_run=True)
def proxy_client_stayed_in_the_backend(survey: RunTotals) -> None:
    """No answer of the whole run contained a Proxy client's secret, or its ID on the agent's side."""
    require.that(survey.redeemed > 0, "the run", expected="a redemption that succeeded", got="none")
    _clean(survey, *PROXY_CLIENT)


def _clean(survey: RunTotals, *kinds: str) -> None:
    known = survey.known.get(kinds[0], 0)
    what = kinds[0].replace("_", " ")
    require.that(known > 0, "the run", expected=f"a distinctive {what} to search for", got="none")
    found = [leak for leak in survey.leaks if leak.kind in kinds]
    brought_up(found)
    places = "; ".join(dict.fromkeys(f"{leak.check}: {leak.said()}" for leak in found[:4]))

    expect.that(
        not found,
        f"{survey.answers} answers of the run, searched for {known} secrets",
        expected=f"no {what} where it must not be",
        got=places,
    )


def _foreign(world: World) -> Secret | None:
    """A Proxy token of another Project, if there is one."""
    try:
        other: Project = world.projects.another()
        return world.backend.proxy_token(other)
    except (Unavailable, Unmet):
        return None
