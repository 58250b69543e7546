"""Concurrent use of Proxy clients and Proxy tokens."""

from __future__ import annotations

from functools import partial

from gateproof.conformance.kit.gateway import concurrent, console
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.isolated_user import require_unexpired
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.suite.races import (
    ASKERS,
    FEW,
    Races,
    expect_all_accepted,
    require_answers,
    run_during,
)


@check("PROXY-06", rounds=4)
def one_token_redeems_for_several_at_once(world: World, races: Races) -> None:
    """One Proxy token redeems in several concurrent requests."""
    for _ in races.each():
        # New ones each time: a campaign can last longer than gateway access tokens live.
        grant, token = world.grant(), world.backend.proxy_token()
        world.backend.require_redeemed(grant, token)

        answers = concurrent.redemptions(world.gateway, [(grant, token)] * FEW)

        for answer in answers:
            require_unexpired(world, grant, answer)
        expect_all_accepted(require_answers(answers), "a redemption beside others with the same Proxy token")


@check("PROXY-04", needs=["control:create_proxy_client", "control:revoke_proxy_client"], rounds=9)
def no_request_after_the_revocation_succeeds(gateway: Gateway, world: World, races: Races) -> None:
    """A Proxy token request that begins after the revocation was confirmed gets 401, also under load.

    Requests that began earlier may end either way.
    """
    project = world.projects.own_or_home()
    for choice in races.each():
        client = console.new_proxy_client(world, project)
        require(gateway.proxy_token(client)).status(200)

        asks = [partial(gateway.proxy_token, client)] * ASKERS
        history = run_during(asks, partial(console.revoke, world, client), choice)

        require.that(
            any(answer.status == 200 for answer in history.before),
            "Proxy token requests before the revocation",
            expected="one that succeeds",
            got="none",
        )
        for answer in history.after:
            expect(answer).status(401)
            expect(answer).not_granted("a Proxy token", "access_token")
