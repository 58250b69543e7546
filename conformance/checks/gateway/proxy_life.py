"""The Proxy token: its lifetime and repeated use."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unavailable, expect, require
from gateproof.conformance.suite.parties import Project, ProxyClient
from gateproof.conformance.suite.time_limits import LEEWAY_S
from gateproof.conformance.targets.control import ControlFailed
from gateproof.conformance.wire.exchange import Exchange

HOUR_S, HALF_AN_HOUR_S, FIFTY_MINUTES_S, SPARE_S = 3600, 1800, 3000, 120
# One hour, minus the duration of the answer.
AN_HOUR_AT_LEAST_S = 3595


@check("PROXY-02")
def token_lives_an_hour(gateway: Gateway, world: World) -> None:
    """`expires_in` is 3595 to 3600 s for a new Proxy token, and at most 3600 s for one returned again."""
    client, is_new = _client_without_a_token(world)
    answers = [gateway.proxy_token(client) for _ in range(2)]
    lives, again = map(_life, answers)
    first, second = (require.text(answer.member("access_token"), "access_token") for answer in answers)
    if not is_new and lives < AN_HOUR_AT_LEAST_S and first == second:
        raise LeftOut("the gateway returns a token that it has issued before, with the rest of its lifetime")

    _is_an_hour(lives)
    # For a token that is returned again, expires_in may be the rest of its lifetime.
    _is_an_hour(again, at_least=0 if first == second else AN_HOUR_AT_LEAST_S)


@check("PROXY-02", needs=["control:advance_clock"])
def token_asked_for_later_serves_as_long_as_it_says(gateway: Gateway, world: World) -> None:
    """A token requested half an hour later redeems until its `expires_in` ends, even if it is the same."""
    project = world.projects.own_or_home()
    require(gateway.proxy_token(project.proxy_client)).status(200)
    world.clock.advance(HALF_AN_HOUR_S)
    asked = gateway.proxy_token(project.proxy_client)
    lives = _life(asked)
    token = gateway.keyring.secret("proxy_token", require.text(asked.member("access_token"), "access_token"))
    _is_an_hour(lives, at_least=0)
    if lives <= SPARE_S:
        raise LeftOut("the gateway returns a token that it has issued before, at the end of its lifetime")
    world.clock.advance(lives - SPARE_S)
    grant = world.grant(resource=project.resource)
    answer = world.backend.redeem_once_provisioned(grant, token)
    if answer.status != 200:
        world.backend.require_redeemed(grant, world.backend.proxy_token(_with_another_client(world, project)))

    expect.that(
        answer.status == 200,
        f"redemption {SPARE_S} s before the Proxy token's end by its expires_in",
        expected="status 200",
        got=answer.outcome(),
        exchange=answer,
    )


# More uses than any sensible limit.
MANY = 30
# Processes of a backend; each may request its own Proxy token.
PROCESSES = 25


@check("PROXY-06")
def one_token_redeems_again_and_again(world: World) -> None:
    """One Proxy token redeems many times."""
    grant, token = world.grant(), world.backend.proxy_token()
    world.backend.require_redeemed(grant, token)

    for _ in range(MANY):
        expect(world.backend.redeem_once_provisioned(grant, token)).status(200)


@check("PROXY-06", needs=["users:2"])
def one_token_redeems_for_every_user(world: World) -> None:
    """One Proxy token redeems for different users."""
    token = world.backend.proxy_token()
    first, second = (world.grant(user=user) for user in world.users[:2])
    for grant in (first, second):
        world.backend.require_redeemed(grant, world.backend.proxy_token())

    for grant in (first, second, first):
        expect(world.backend.redeem_once_provisioned(grant, token)).status(200)


@check("PROXY-06")
def newer_token_leaves_the_older_one_good(world: World) -> None:
    """A Proxy token still redeems after the client has got a newer one."""
    _older_one_is_good(world, newer=1)


@check("PROXY-06")
def many_newer_tokens_leave_the_older_one_good(world: World) -> None:
    """A Proxy token still redeems after the client has got 25 newer ones, one for each backend process."""
    _older_one_is_good(world, newer=PROCESSES)


@check("PROXY-06", needs=["control:create_resource"])
def token_serves_a_resource_that_is_newer(world: World) -> None:
    """A Proxy token redeems at a Resource that was created in its Project after the token was issued."""
    project = world.projects.own_or_home()
    older = world.backend.proxy_token(project)
    world.backend.require_redeemed(world.grant(resource=project.resource), older)
    indicator = f"https://api.merchant.example/{world.unique()}"
    grant = world.grant(resource=console.resource_in(world, project, indicator))
    world.backend.require_redeemed(grant, world.backend.proxy_token(project))

    expect(world.backend.redeem_once_provisioned(grant, older)).status(200)


@check("PROXY-06", needs=["control:advance_clock"])
def token_still_serves_after_fifty_minutes(gateway: Gateway, world: World) -> None:
    """A Proxy token redeems fifty minutes after it was issued, for a user who has just signed in."""
    project = world.projects.own_or_home()
    asked = require(gateway.proxy_token(project.proxy_client)).status(200)
    token = gateway.keyring.secret("proxy_token", require.text(asked.member("access_token"), "access_token"))
    lives = asked.member("expires_in")
    if isinstance(lives, int | float) and lives < FIFTY_MINUTES_S + SPARE_S:
        raise LeftOut("the gateway returns a token that it has issued before, and that expires sooner")
    world.clock.advance(FIFTY_MINUTES_S)
    grant = world.grant(resource=project.resource)
    world.backend.require_redeemed(grant, world.backend.proxy_token(project))

    expect(world.backend.redeem_once_provisioned(grant, token)).status(200)


@check("PROXY-07")
def token_is_refused_after_its_hour(world: World) -> None:
    """A Proxy token redeems nothing after its hour, even if it was used within the hour."""
    token = world.backend.proxy_token()
    world.backend.require_redeemed(world.grant(), token)
    world.clock.advance(FIFTY_MINUTES_S)
    # Another rule tests that it still works; here it is only used.
    world.backend.redeem_once_provisioned(world.grant(), token)
    world.clock.advance(HOUR_S + LEEWAY_S - FIFTY_MINUTES_S)
    grant = world.grant()
    world.backend.require_redeemed(grant, world.backend.proxy_token())

    expect(world.backend.redeem_once_provisioned(grant, token)).not_granted(
        "the merchant token", "access_token"
    )


def _older_one_is_good(world: World, *, newer: int) -> None:
    grant, older = world.grant(), world.backend.proxy_token()
    for _ in range(newer):
        newest = world.backend.proxy_token()
    world.backend.require_redeemed(grant, newest)

    expect(world.backend.redeem_once_provisioned(grant, older)).status(200)


def _with_another_client(world: World, project: Project) -> Project:
    """The Project with a Proxy client that has no token yet, if one more client can be created.

    A gateway may return an earlier token to a client that has requested one before.
    """
    try:
        return replace(project, proxy_client=console.new_proxy_client(world, project))
    except (Unavailable, ControlFailed):
        return project


def _client_without_a_token(world: World) -> tuple[ProxyClient, bool]:
    """A Proxy client that has requested no token yet, or the home one if none can be created."""
    project = world.projects.own_or_home()
    if world.projects.pool.created_by_run(project.id):
        return project.proxy_client, True
    try:
        return console.new_proxy_client(world, project), True
    except Unavailable:
        return project.proxy_client, False


def _life(answer: Exchange) -> int | float:
    """The `expires_in` of a Proxy token."""
    expires_in: Any = require(require(answer).status(200)).json_object().get("expires_in")
    good = isinstance(expires_in, int | float) and not isinstance(expires_in, bool)
    require.that(good, "expires_in", expected="a number", got=expires_in)
    return expires_in or 0


def _is_an_hour(lives: float, *, at_least: float = AN_HOUR_AT_LEAST_S) -> None:
    expected = "3599 (3595 to 3600)" if at_least else f"{HOUR_S} at most"
    expect.that(at_least <= lives <= HOUR_S, "expires_in", expected=expected, got=lives)
