"""The authorization request, from the browser's first step to the redirect."""

from __future__ import annotations

import secrets
from string import ascii_letters

from conformance.check import check
from conformance.claims import LeftOut, expect, require
from conformance.gateway import Gateway, Visit
from conformance.target.model import AgentPolicy
from conformance.world import World

STATES = {
    "ordinary": lambda: secrets.token_urlsafe(16),
    "reserved": lambda: secrets.token_urlsafe(8) + "!*'();:@&=+$,/?#[]%\"<>\\^`{|}~-._",
    "looks-encoded": lambda: secrets.token_urlsafe(8) + "%20%2B%00&code=x&amp;",
    "inner-space": lambda: f"{secrets.token_urlsafe(8)} {secrets.token_urlsafe(8)}",
    "long": lambda: "".join(secrets.choice(ascii_letters) for _ in range(512)),
    "numeric": lambda: "00" + str(secrets.randbelow(10**12)),
}


@check("AUTHZ-01")
def good_request_ends_at_the_redirect_uri(gateway: Gateway, world: World) -> None:
    """With everything right and the user approving, the browser comes back with a code and the state."""
    agent = world.agent()
    visit = gateway.visit(world.attempt(agent))

    _came_back(visit, agent.redirect_uri)


@check("AUTHZ-01", needs=["users:2"])
def another_user_comes_back_too(gateway: Gateway, world: World) -> None:
    """The second user's sign-in ends at the redirect URI like the first's."""
    agent = world.agent()
    visit = gateway.visit(world.attempt(agent, user=world.users[1]))

    _came_back(visit, agent.redirect_uri)


@check("AUTHZ-01")
def redirect_uri_keeps_its_own_query(gateway: Gateway, world: World) -> None:
    """A registered redirect URI with a query gets code and state added to what it has."""
    uri = "https://agent.example/callback?tenant=1"
    registered = gateway.register(world.metadata(redirect_uris=[uri]))
    if registered.status in range(400, 500):
        raise LeftOut("the gateway does not accept a redirect URI with a query")
    visit = gateway.visit(world.attempt(world.agent_of(registered)))

    _came_back(visit, "https://agent.example/callback")
    expect.equal(visit.parameter("tenant"), "1", "the redirect URI's own parameter")


@check("AUTHZ-02", cases=STATES)
def state_comes_back_unchanged(gateway: Gateway, world: World, case: object) -> None:
    """`state` comes back as it was sent, whatever printable characters are in it."""
    state = case() if callable(case) else ""
    world.show(state)
    visit = gateway.visit(world.attempt(state=state))
    require.that(
        visit.parameter("code") is not None or visit.parameter("error") is not None or visit.sent_to is None,
        "authorization",
        expected="an end that can be judged",
        got=visit.outcome(),
    )

    expect.equal(visit.parameter("state"), state, f"state after {visit.outcome()}")


@check("AUTHZ-09")
def new_agent_is_approved_by_default(gateway: Gateway, world: World) -> None:
    """In a Project that approves agents, the first authorization after registering gives a code."""
    agent = world.agent()
    visit = gateway.visit(world.attempt(agent))

    expect.that(
        visit.parameter("code") is not None, "first authorization", expected="a code", got=visit.outcome()
    )


@check("AUTHZ-09", needs=["control:create_project"], cases={"no-policy-named": None, "approve": "approve"})
def new_project_approves_every_agent(gateway: Gateway, world: World, case: AgentPolicy | None) -> None:
    """A Project made without a policy, or with `approve`, approves the agent that comes first."""
    project = world.project(agent_policy=case)
    agent = world.agent()
    visit = gateway.visit(world.attempt(agent, resource=project.resource))

    expect.that(
        visit.parameter("code") is not None, "first authorization", expected="a code", got=visit.outcome()
    )


def _came_back(visit: Visit, redirect_uri: str) -> None:
    sent_to = visit.sent_to or ""
    expect.that(
        sent_to.split("?")[0] == redirect_uri,
        "end of the authorization",
        expected=f"the browser at {redirect_uri}",
        got=visit.outcome(),
    )
    for name in ("code", "state"):
        expect.text(visit.parameter(name), f"{name} at the redirect URI")
