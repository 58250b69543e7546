"""Concurrent redemptions for different users, Resources and Projects."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from gateproof.conformance.checks.gateway._same_indicator import at
from gateproof.conformance.checks.gateway._second_project import grant_at
from gateproof.conformance.checks.gateway._token_owner import expect_owner
from gateproof.conformance.checks.gateway._visits import keeps_several_sessions
from gateproof.conformance.kit.gateway import concurrent, console
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.isolated_user import (
    IsolatedUser,
    isolated_user,
    let_expire,
    require_unexpired,
)
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unavailable, expect, require
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.suite.races import ASKERS, Races, require_answers, run_during, together
from gateproof.conformance.suite.time_limits import RACE_HOLD_S
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret

Owned = tuple[Grant, Secret]
# How many of the last Proxy tokens issued before the revocation was confirmed are tried.
_LAST = 2 * ASKERS


@dataclass(slots=True)
class Owners:
    """The known owner of each merchant token."""

    world: World
    seen: dict[str, Grant]

    def judge(self, owned: Owned, answer: Exchange) -> None:
        """The merchant token belongs to this user at this Resource, and to no other."""
        token = answer.member("access_token")
        if answer.status != 200 or not isinstance(token, str):
            return
        grant, _ = owned
        first = self.seen.setdefault(token, grant)
        expect.that(
            _owner(first) == _owner(grant),
            f"merchant token of {_description(grant)}, among others redeemed at the same moment",
            expected="a token of their own",
            got=f"the one of {_description(first)}",
        )
        expect_owner(self.world, answer, grant.user, grant.resource)


@check("REDEEM-12", rounds=4)
def everybody_gets_their_own_under_load(world: World, races: Races) -> None:
    """Concurrent redemptions return the merchant token of their own user, Resource and Project.

    Two users redeem, at two Resources and in two Projects if available, in any order.
    """
    owned = _owned(world)
    owners = Owners(world, {})
    for each in owned:
        owners.judge(each, world.backend.require_redeemed(*each))

    for choice in races.each():
        _redeemed_at_once(world, owners, owned, races.racers, choice)


@check("REDEEM-12", needs=["sign-in:browser"], rounds=4)
def everybody_gets_their_own_after_signing_in_at_once(world: World, races: Races) -> None:
    """Users who signed in concurrently each redeem their own merchant token."""
    project = world.projects.own_or_home()
    proxy_token = world.backend.proxy_token(project)
    owners = Owners(world, {})
    times = 2 if keeps_several_sessions(world) else 1
    for choice in races.each():
        signing_in = [(world.agents.new(), user) for user in world.users[:2] * times]
        grants = together(
            [
                partial(world.grant, agent=agent, resource=project.resource, user=user)
                for agent, user in signing_in
            ]
        )
        owned = [(grant, proxy_token) for grant in grants]
        for each in owned:
            owners.judge(each, world.backend.require_redeemed(*each))
        _redeemed_at_once(world, owners, owned, races.racers, choice)


@check("REDEEM-12", needs=["merchant"], alone=True, rounds=4)
def everybody_gets_their_own_refreshed_at_once(world: World, races: Races) -> None:
    """Merchant tokens of several owners that are refreshed concurrently are not mixed up.

    The merchant delays its answers until it has a request for every owner.
    """
    for choice in races.each(at_most=None if world.clock.can_move() else 1):
        places = _places(world)
        for place in places:
            place.short_lived()
        agent = world.agents.new()
        owned = [
            (grant_at(world, agent, place.resource, place.user), place.proxy_token()) for place in places
        ]
        owners = Owners(world, {})
        for each in owned:
            owners.judge(each, world.backend.require_redeemed(*each))
        let_expire(world)
        hold = {"outcome": "hold", "gate": world.unique(), "parties": len(places), "seconds": RACE_HOLD_S}
        for place in places:
            place.short_lived(refresh=hold)

        _redeemed_at_once(world, owners, owned, races.racers, choice)
        for each in owned:
            owners.judge(each, world.backend.redeem_once_provisioned(*each))


@check("REDEEM-06", needs=["control:create_proxy_client"], rounds=6)
def no_redemption_after_the_revocation_succeeds(gateway: Gateway, world: World, races: Races) -> None:
    """A redemption that begins after the Proxy client's revocation was confirmed gets 401.

    A redemption that began earlier may end either way.
    """
    project = world.projects.own_or_home()
    for choice in races.each():
        # A new grant each time: a campaign can last longer than gateway access tokens live.
        grant = world.grant(resource=project.resource)
        world.backend.require_redeemed(grant, world.backend.proxy_token(project))
        client = console.new_proxy_client(world, project)
        token = world.backend.proxy_token(replace(project, proxy_client=client))
        world.backend.require_redeemed(grant, token)

        history = run_during(
            [partial(gateway.redeem, grant.access_token, token, grant.resource.indicator)] * ASKERS,
            partial(console.revoke, world, client),
            choice,
        )

        require.that(
            any(answer.status == 200 for answer in history.before),
            "redemptions before the revocation",
            expected="one that succeeds",
            got="none",
        )
        for answer in history.after:
            expect(answer).status(401)
            expect(answer).not_granted("the merchant token", "access_token")


@check("REDEEM-06", needs=["control:create_proxy_client"], rounds=6)
def no_token_got_during_the_revocation_redeems(gateway: Gateway, world: World, races: Races) -> None:
    """A Proxy token that was requested while its client was being revoked gets 401 afterwards."""
    project = world.projects.own_or_home()
    for choice in races.each():
        grant = world.grant(resource=project.resource)
        client = console.new_proxy_client(world, project)
        first = world.backend.proxy_token(replace(project, proxy_client=client))
        world.backend.require_redeemed(grant, first)

        history = run_during(
            [partial(gateway.proxy_token, client)] * ASKERS, partial(console.revoke, world, client), choice
        )

        got = [answer.member("access_token") for answer in history.before if answer.status == 200]
        require.that(
            bool(got),
            "Proxy token requests before the revocation",
            expected="one that succeeds",
            got="none",
        )
        # The last requests were in flight when the client was revoked.
        for text in got[-_LAST:]:
            token = gateway.keyring.secret("proxy_token", require.text(text, "access_token of a request"))
            answer = gateway.redeem(grant.access_token, token, grant.resource.indicator)
            expect(answer).status(401)
            expect(answer).not_granted("the merchant token", "access_token")
        world.backend.require_redeemed(grant, world.backend.proxy_token(project))


def _redeemed_at_once(
    world: World, owners: Owners, owned: Sequence[Owned], racers: int, choice: random.Random
) -> None:
    """All grants redeem at the same moment, several times each, and each gets its own token."""
    turns = [owned[number % len(owned)] for number in range(racers)]
    choice.shuffle(turns)
    answers = concurrent.redemptions(world.gateway, turns)
    for each, answer in zip(turns, answers, strict=True):
        require_unexpired(world, each[0], answer)
        owners.judge(each, answer)
    require_answers(answers)
    came = sum(answer.status == 200 for answer in answers)
    require.that(
        came >= len(owned),
        f"{len(answers)} redemptions at the same moment",
        expected=f"at least {len(owned)} with a merchant token",
        got=f"{came}",
    )


def _owned(world: World) -> list[Owned]:
    """A grant for each user at the home Resource, and one for the first user at each other place."""
    projects, resources = [world.projects.home()], [world.projects.home().resource]
    with suppress(Unavailable):
        resources += console.siblings(world)[1:]
    with suppress(Unavailable):
        projects.append(world.projects.another())
    agent = world.agents.new()
    tokens = {project.id: world.backend.proxy_token(project) for project in projects}
    everywhere = [*resources, *(project.resource for project in projects[1:])]
    wanted = [(world.users[0], resource) for resource in everywhere] + [(world.users[1], resources[0])]
    return [
        (grant_at(world, agent, resource, user), tokens[resource.project_id]) for user, resource in wanted
    ]


def _places(world: World) -> list[IsolatedUser]:
    """Two users at one Resource; with a control, one of them also at a sibling and in another Project.

    The other Project has a Resource with the sibling's indicator, too.
    """
    first = isolated_user(world, own=True)
    places = [first, first.beside()]
    if "control:create_resource" not in world.capabilities:
        return places
    indicator = f"https://api.merchant.example/{world.unique()}"
    sibling = console.resource_in(world, first.project, indicator)
    if sibling.merchant_client_id is not None:
        project = replace(first.project, resource=sibling)
        places.append(at(first, project))
    elsewhere = isolated_user(world, own=True)
    # A gateway may refuse an indicator that it knows.
    with suppress(LeftOut):
        same = console.resource_in(world, elsewhere.project, indicator)
        if same.merchant_client_id is not None:
            places.append(at(elsewhere, replace(elsewhere.project, resource=same)))
    return [*places, elsewhere]


def _owner(grant: Grant) -> tuple[str, str]:
    return grant.user.login, grant.resource.id


def _description(grant: Grant) -> str:
    return f"{grant.user.name} at {grant.resource.indicator}"
