"""Proxy clients and Proxy tokens that are wanted by several at the same moment."""

from __future__ import annotations

from functools import partial

from gateproof.conformance.kit.gateway import concurrent, console
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.isolated_user import still_good
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.suite.races import ASKERS, FEW, Races, amid, arrived, nobody_is_turned_down


@check("PROXY-06", rounds=4)
def one_token_redeems_for_several_at_once(world: World, races: Races) -> None:
    """One Proxy token serves the callers of a backend also while it serves another of them."""
    for _ in races.each():
        # New ones each time: a campaign goes on for longer than gateway access tokens may live.
        grant, token = world.grant(), world.backend.proxy_token()
        world.backend.require_redeemed(grant, token)

        answers = concurrent.redemptions(world.gateway, [(grant, token)] * FEW)

        for answer in answers:
            still_good(world, grant, answer)
        nobody_is_turned_down(arrived(answers), "a redemption beside others with the same Proxy token")


@check("PROXY-04", needs=["control:create_proxy_client", "control:revoke_proxy_client"], rounds=9)
def no_request_after_the_revocation_succeeds(gateway: Gateway, world: World, races: Races) -> None:
    """Whatever was under way before, a request that begins once the revocation is acknowledged gets 401.

    A request that began earlier may end either way.
    """
    project = world.projects.own_or_home()
    for choice in races.each():
        client = console.new_proxy_client(world, project)
        require(gateway.proxy_token(client)).status(200)

        asks = [partial(gateway.proxy_token, client)] * ASKERS
        history = amid(asks, partial(console.revoke, world, client), choice)

        require.that(
            any(answer.status == 200 for answer in history.before),
            "Proxy token requests before the revocation",
            expected="one that succeeds",
            got="none",
        )
        for answer in history.after:
            expect(answer).status(401)
            expect(answer).not_granted("a Proxy token", "access_token")
