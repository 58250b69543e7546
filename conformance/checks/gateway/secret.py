"""Who may never see which credential: every byte that the wrong side received is searched for it."""

from __future__ import annotations

from typing import Any

from gateproof.conformance.checks.gateway import _provocations as provoke
from gateproof.conformance.checks.gateway._secrecy import hidden
from gateproof.conformance.kit.gateway import failure_oracle
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.isolated_user import isolated_user, let_expire
from gateproof.conformance.kit.gateway.received import Received, Survey, brought_up
from gateproof.conformance.kit.gateway.valid_tokens import redeemable
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unavailable, Unmet, expect, require
from gateproof.conformance.suite.parties import Project
from gateproof.conformance.wire.secret import Secret

REFRESH_TOKEN, ACCESS_TOKEN = "merchant_refresh_token", "merchant_access_token"
PROXY_TOKEN, PROXY_CLIENT = "proxy_token", ("proxy_client_secret", "proxy_client_id")
# What the merchant may do with a refresh token that it is shown.
REFRESHES: dict[str, dict[str, Any]] = {
    "refreshed": {},
    "rotated": {"rotate_refresh_tokens": True},
    "rejected": {"refresh": "reject"},
    "failing": {"refresh": "server_error"},
    "nonsense": {"refresh": "wrong_shape"},
}


@check("SECRET-01")
def refresh_token_is_not_in_what_a_sign_in_brings(world: World, received: Received) -> None:
    """Neither pages, cookies, redirects and tokens of a sign-in nor the redemption after it have it."""
    grant = world.grant()
    world.backend.require_redeemed(grant, world.backend.proxy_token())

    hidden(world, received, REFRESH_TOKEN)


@check("SECRET-01", alone=True, cases=REFRESHES)
def refresh_token_is_not_in_what_its_use_brings(
    world: World, received: Received, case: dict[str, Any]
) -> None:
    """A redemption that used the refresh token does not show it, whatever the merchant said to it."""
    alone = isolated_user(world)
    due = failure_oracle.soon_due(alone)
    alone.short_lived(**case)
    let_expire(world)
    # What a gateway says that asks to wait while its merchant fails is of interest as it is.
    due.redeem_once()
    if not due.refreshes():
        raise LeftOut("the gateway has not used the refresh token")
    due.redeem_once()

    hidden(world, received, REFRESH_TOKEN)


@check("SECRET-01")
def refresh_token_is_in_no_refusal(gateway: Gateway, world: World, received: Received) -> None:
    """Redemptions that are refused, and requests that ask for details, do not bring it."""
    good = redeemable(world)
    provoke.send(gateway, provoke.refused_redemptions(gateway, good))
    provoke.send(gateway, provoke.agents_side(gateway, world, good))

    hidden(world, received, REFRESH_TOKEN)


@check("SECRET-02")
def access_token_is_not_on_the_agents_side(gateway: Gateway, world: World, received: Received) -> None:
    """An agent whose user's merchant token is in the gateway's keeping gets no sight of it."""
    good = redeemable(world)
    provoke.send(gateway, provoke.agents_side(gateway, world, good))

    hidden(world, received, ACCESS_TOKEN)


@check("SECRET-02")
def access_token_is_not_in_a_second_sign_in(world: World, received: Received) -> None:
    """A user who signs in again, when the merchant token is there already, gets no sight of it."""
    first = world.grant()
    world.backend.require_redeemed(first, world.backend.proxy_token())
    authorization = world.new_code(user=first.user)
    require(world.gateway.exchange(authorization)).status(200)
    world.gateway.exchange(authorization)
    world.gateway.visit(world.attempt(user=first.user), approve=False, wherever=True)

    hidden(world, received, ACCESS_TOKEN)


@check("SECRET-02")
def access_token_is_in_no_refused_redemption(gateway: Gateway, world: World, received: Received) -> None:
    """A redemption that is refused does not bring the token all the same, not in a header and not encoded."""
    good = redeemable(world)
    foreign = _foreign(world)
    provoke.send(gateway, provoke.refused_redemptions(gateway, good, foreign))

    hidden(world, received, ACCESS_TOKEN)


@check("SECRET-03")
def proxy_token_is_in_no_redemption(gateway: Gateway, world: World, received: Received) -> None:
    """Neither a redemption that succeeds nor one that is refused repeats the Proxy token."""
    good = redeemable(world)
    provoke.send(gateway, provoke.refused_redemptions(gateway, good, _foreign(world)))

    hidden(world, received, PROXY_TOKEN)


@check("SECRET-03")
def proxy_token_is_in_no_other_answer(gateway: Gateway, world: World, received: Received) -> None:
    """A Proxy token that is sent where it does not belong does not come back."""
    good = redeemable(world)
    client = world.projects.home().proxy_client
    provoke.send(gateway, provoke.backends_side(gateway, client, good.proxy_token))

    hidden(world, received, PROXY_TOKEN)


@check("SECRET-03")
def proxy_token_is_not_on_the_agents_side(gateway: Gateway, world: World, received: Received) -> None:
    """An agent whose user's token was redeemed a moment ago gets no sight of the Proxy token."""
    good = redeemable(world)
    world.backend.require_redeemed(world.grant(), good.proxy_token)
    provoke.send(gateway, provoke.agents_side(gateway, world, good))

    hidden(world, received, PROXY_TOKEN)


@check("SECRET-04")
def proxy_secret_is_in_no_answer_to_the_backend(gateway: Gateway, world: World, received: Received) -> None:
    """The token endpoint never repeats the credentials it was sent, and no other endpoint does."""
    client, proxy_token = world.projects.home().proxy_client, world.backend.proxy_token()
    provoke.send(gateway, provoke.backends_side(gateway, client, proxy_token))

    hidden(world, received, *PROXY_CLIENT)


@check("SECRET-04")
def proxy_client_is_not_on_the_agents_side(gateway: Gateway, world: World, received: Received) -> None:
    """Pages, redirects, documents, tokens and errors name no Proxy client, also just after it was used."""
    good = redeemable(world)
    world.backend.require_redeemed(world.grant(), good.proxy_token)
    provoke.send(gateway, provoke.agents_side(gateway, world, good))

    hidden(world, received, *PROXY_CLIENT)


@check("SECRET-01", whole_run=True)
def merchant_refresh_token_was_nowhere_in_the_run(survey: Survey) -> None:
    """No answer of the whole run, to anybody, had a merchant refresh token in it."""
    require.that(survey.redeemed > 0, "the run", expected="a redemption that succeeded", got="none")
    _clean(survey, REFRESH_TOKEN)


@check("SECRET-02", whole_run=True)
def merchant_access_token_was_in_redemptions_alone(survey: Survey) -> None:
    """No answer of the whole run but a successful redemption had a merchant access token in it."""
    require.that(survey.redeemed > 0, "the run", expected="a redemption that succeeded", got="none")
    _clean(survey, ACCESS_TOKEN)


@check("SECRET-03", whole_run=True)
def proxy_token_was_in_its_own_answer_alone(survey: Survey) -> None:
    """No answer of the whole run but the issuing one had a Proxy token in it."""
    require.that(survey.redeemed > 0, "the run", expected="a redemption that succeeded", got="none")
    _clean(survey, PROXY_TOKEN)


@check("SECRET-04", whole_run=True)
def proxy_client_stayed_in_the_backend(survey: Survey) -> None:
    """No answer of the whole run had a Proxy client's secret in it, nor one to an agent or browser its ID."""
    require.that(survey.redeemed > 0, "the run", expected="a redemption that succeeded", got="none")
    _clean(survey, *PROXY_CLIENT)


def _clean(survey: Survey, *kinds: str) -> None:
    known = survey.known.get(kinds[0], 0)
    what = kinds[0].replace("_", " ")
    require.that(known > 0, "the run", expected=f"a {what} that is no word, to look for", got="none")
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
    """Another Project's Proxy token, where there is another Project."""
    try:
        other: Project = world.projects.another()
        return world.backend.proxy_token(other)
    except (Unavailable, Unmet):
        return None
