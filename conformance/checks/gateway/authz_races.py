"""Authorizations that overlap: with each other, and with the approval of their agent."""

from __future__ import annotations

from functools import partial

from conformance.check import check
from conformance.checks.gateway._visits import code_came
from conformance.claims import expect, require
from conformance.gateway import Visit
from conformance.racing import Races, together, until
from conformance.world import World

# Browsers that are under way at the same time.
BROWSERS = 4
# Authorizations that an approval comes amid.
AMID = 3


@check("AUTHZ-01", needs=["sign-in:browser"])
def sign_ins_at_once_end_at_their_own_request(world: World, races: Races) -> None:
    """Users who sign in at the same time, in different browsers, each come back with code and state."""
    world.authorization()
    for _ in races.each():
        users = [world.users[number % len(world.users)] for number in range(BROWSERS)]
        attempts = [world.attempt(world.agent(), user=user) for user in users]

        visits = together([partial(world.gateway.visit, attempt) for attempt in attempts])

        for attempt, visit in zip(attempts, visits, strict=True):
            code_came(visit, f"sign-in of {attempt.user.name} beside {BROWSERS - 1} others")
            expect.equal(
                visit.parameter("state"),
                attempt.parameters["state"],
                f"state of {attempt.user.name}'s sign-in beside {BROWSERS - 1} others",
            )


@check("AUTHZ-08", needs=["control:approve_agent", "sign-in:browser"])
def approval_amid_an_authorization_is_kept(world: World, races: Races) -> None:
    """An agent that is approved while it authorizes may get a code or not; on a new attempt it does.

    The approval comes in the midst of several authorizations, at a moment that is counted in answers.
    """
    world.authorization()
    for choice in races.each():
        resource, agent = world.holding_resource(), world.agent()
        attempt = world.attempt(agent, resource=resource)
        pending = world.gateway.visit(attempt, wherever=True)
        require.that(
            pending.ended() and not pending.codes(),
            "first attempt of an agent that is Pending",
            expected="an end without a code",
            got=pending.outcome(),
        )

        def authorize() -> Visit | None:
            return world.gateway.visit(world.attempt(agent, resource=resource), wherever=True)  # noqa: B023

        seen = len(world.seen()) + choice.randrange(1, 4 * AMID)

        def approve() -> None:
            until(lambda: len(world.seen()) >= seen)  # noqa: B023
            world.approve_agent(agent, resource)  # noqa: B023

        visits = together([approve, *[authorize] * AMID])

        for visit in visits:
            if visit is not None:
                expect.that(
                    visit.ended(), "authorization amid the approval", expected="an end", got=visit.outcome()
                )
        code_came(
            world.gateway.visit(world.attempt(agent, resource=resource)),
            "authorization after an approval that came amid others",
        )
