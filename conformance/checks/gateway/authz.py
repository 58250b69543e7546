"""The authorization request, from the browser's first step to the redirect."""

from __future__ import annotations

import time
from collections.abc import Callable

from gateproof.conformance.checks.gateway._states import STATES, state_came_back
from gateproof.conformance.checks.gateway._visits import code_came, no_code, pending_agent
from gateproof.conformance.kit.gateway.approvals import require_approved, visit_after_approval
from gateproof.conformance.kit.gateway.gateway import Gateway, Visit
from gateproof.conformance.kit.gateway.isolated_user import isolated_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require, rule_requires
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import PROVISIONING_S
from gateproof.conformance.targets.model import AgentPolicy


@check("AUTHZ-01")
def good_request_ends_at_the_redirect_uri(gateway: Gateway, world: World) -> None:
    """A correct request that the user approves redirects the browser with `code` and `state`."""
    agent = world.agents.new()
    visit = gateway.visit(world.attempt(agent))

    _came_back(visit, agent.redirect_uri)


@check("AUTHZ-01")
def agent_comes_back_a_second_time(gateway: Gateway, world: World) -> None:
    """An agent that a user has already approved gets a code when it authorizes again."""
    agent = world.agents.new()
    for _ in range(2):
        _came_back(gateway.visit(world.attempt(agent)), agent.redirect_uri)


@check("AUTHZ-01", needs=["users:2"])
def another_user_comes_back_too(gateway: Gateway, world: World) -> None:
    """The sign-in of a second user also ends at the redirect URI with code and state."""
    agent = world.agents.new()
    visit = gateway.visit(world.attempt(agent, user=world.users[1]))

    _came_back(visit, agent.redirect_uri)


@check("AUTHZ-01")
def redirect_uri_keeps_its_own_query(gateway: Gateway, world: World) -> None:
    """For a registered redirect URI with a query, code and state are added to that query."""
    agent = world.agents.new_if_accepted("https://agent.example/callback?tenant=1")
    visit = gateway.visit(world.attempt(agent))

    _came_back(visit, "https://agent.example/callback")
    expect.equal(visit.parameter("tenant"), "1", "the redirect URI's own parameter")


@check("AUTHZ-01")
def one_of_several_redirect_uris_is_the_one_asked_for(gateway: Gateway, world: World) -> None:
    """With several registered redirect URIs, the browser is redirected to the one in the request."""
    asked_for = "https://agent.example/asked-for"
    agent = world.agents.new_if_accepted(
        "https://agent.example/first", asked_for, "https://agent.example/last"
    )
    visit = gateway.visit(world.attempt(agent, redirect_uri=asked_for))

    _came_back(visit, asked_for)


@check("AUTHZ-01")
def each_of_many_redirect_uris_works(gateway: Gateway, world: World) -> None:
    """An agent that registered nine redirect URIs is sent to the sixth and to the last of them."""
    uris = [f"https://agent.example/callback-{number}" for number in range(1, 10)]
    agent = world.agents.new_if_accepted(*uris)
    for asked_for in (uris[5], uris[-1]):
        _came_back(gateway.visit(world.attempt(agent, redirect_uri=asked_for)), asked_for)


@check("AUTHZ-02", cases=STATES)
def state_comes_back_unchanged(gateway: Gateway, world: World, case: object) -> None:
    """`state` comes back exactly as sent, with any printable characters in it.

    If the gateway does not escape it, the redirect may lose or repeat other parameters. So a redirect with
    any of the expected parameters is judged.
    """
    state = case() if callable(case) else ""
    world.show(state)
    state_came_back(gateway.visit(world.attempt(state=state)), state)


@check("AUTHZ-09")
def new_agent_is_approved_by_default(gateway: Gateway, world: World) -> None:
    """In a Project with the policy `approve`, the first authorization of a new agent gives a code."""
    agent = world.agents.new()
    visit = gateway.visit(world.attempt(agent))

    code_came(visit, "first authorization")


@check("AUTHZ-09", needs=["control:create_project"], cases={"no-policy-named": None, "approve": "approve"})
def new_project_approves_every_agent(gateway: Gateway, world: World, case: AgentPolicy | None) -> None:
    """A Project created without a policy, or with `approve`, approves a new agent."""
    project = world.projects.new(agent_policy=case)
    agent = world.agents.new()
    visit = gateway.visit(world.attempt(agent, resource=project.resource))

    code_came(visit, "first authorization")


@check("AUTHZ-09", needs=["control:create_project", "control:set_agent_policy"])
def new_project_approves_agents_after_another_held_them(world: World) -> None:
    """A Project that holds agents does not change the default policy of Projects created later."""
    held = world.projects.new()
    world.projects.set_agent_policy(held, "hold")
    world.gateway.visit(world.attempt(resource=held.resource), wherever=True)
    project = world.projects.new(agent_policy=None)
    visit = world.gateway.visit(world.attempt(resource=project.resource))

    code_came(visit, "first authorization in a Project that was made after another began to hold agents")


@check("AUTHZ-07")
def pending_agent_gets_no_code(world: World) -> None:
    """Sign-in for a Pending agent ends without a code, at the first and at the second try.

    The user stays in one browser, so the second try has a user who is already signed in.
    """
    world = world.in_one_browser()
    world.new_code()
    resource = world.projects.holding_resource()
    agent = world.agents.new()
    for which in ("first", "second"):
        visit = world.gateway.visit(world.attempt(agent, resource=resource), wherever=True)
        expect.that(
            visit.ended(), f"{which} sign-in for a Pending agent", expected="an end", got=visit.outcome()
        )
        no_code(visit, f"{which} sign-in for a Pending agent")


@check("AUTHZ-07", needs=["users:2"])
def pending_agent_gets_no_code_of_another_user(world: World) -> None:
    """A Pending agent gets no code from any user, not only from the one who signed in first."""
    world.new_code(user=world.users[1])
    resource, agent = world.projects.holding_resource(), world.agents.new()
    for which, user in zip(("first", "second"), world.users[:2], strict=True):
        visit = world.gateway.visit(world.attempt(agent, resource=resource, user=user), wherever=True)
        no_code(visit, f"sign-in of the {which} user for a Pending agent")


@check("AUTHZ-07", needs=["control:approve_agent"])
def approval_of_one_agent_lets_in_no_other(gateway: Gateway, world: World) -> None:
    """If the operator approves one of two Pending agents, the other and a later one still get no code."""
    resource = world.projects.holding_resource()
    approved, pending = pending_agent(world, resource), pending_agent(world, resource)
    world.projects.approve_agent(approved, resource)
    require_approved(world, approved, resource)

    for which, agent in {"the other agent": pending, "an agent that came later": world.agents.new()}.items():
        visit = gateway.visit(world.attempt(agent, resource=resource), wherever=True)
        no_code(visit, f"sign-in for {which}")


@check("AUTHZ-07", needs=["control:create_project", "control:set_agent_policy"])
def project_that_has_approved_agents_can_hold_later_ones(world: World) -> None:
    """If a Project that approved agents is changed to hold them, a newly registered agent gets no code."""
    world = world.in_one_browser()
    project = world.projects.new()
    world.new_code(resource=project.resource)
    world.projects.set_agent_policy(project, "hold")

    visit = world.gateway.visit(world.attempt(resource=project.resource), wherever=True)
    no_code(visit, "sign-in for an agent that registered after the Project began to hold agents")


@check("AUTHZ-08")
def approved_agent_gets_its_code_on_a_new_attempt(world: World) -> None:
    """An agent that was Pending gets a code with the same client after its approval."""
    resource = world.projects.holding_resource()
    agent = pending_agent(world, resource)
    world.projects.approve_agent(agent, resource)

    code_came(visit_after_approval(world, agent, resource), "authorization after the approval")


@check("AUTHZ-10")
def sign_in_outlives_a_merchant_that_rejects_the_gateway(gateway: Gateway, world: World) -> None:
    """The agent gets a code although the merchant refuses to issue a token for the user.

    This must also hold if the merchant had issued one before, so a user with a token is tried as well as a
    new user.
    """
    # Positive twin: while the merchant accepts the gateway, the same sign-in gives a code.
    friendly = isolated_user(world)
    world.new_code(resource=friendly.resource, user=friendly.user)
    place = isolated_user(world, own=True)
    # The rejection comes first: a gateway that already has a token of the user may not request another.
    place.script(provisioning="reject")
    visit = gateway.visit(world.attempt(resource=place.resource, user=place.user))
    require.that(
        _becomes_true(lambda: any(entry.outcome == "reject" for entry in place.journal())),
        "the merchant's journal",
        expected="a provisioning request that was rejected",
        got="none: this gateway gets its merchant tokens in a way that the script cannot reject",
    )

    code_came(visit, "sign-in while the merchant rejects the gateway")
    place.script()
    after = world.attempt(resource=place.resource, user=place.user)
    with rule_requires():
        world.code_for(after)
    place.script(provisioning="reject")
    again = gateway.visit(world.attempt(resource=place.resource, user=place.user))
    place.script()
    code_came(again, "sign-in while the merchant rejects the gateway again, after it accepted it once")


def _becomes_true(happened: Callable[[], bool]) -> bool:
    """True if it happens within the time that provisioning may take in the background."""
    deadline = time.monotonic() + PROVISIONING_S
    while not happened():
        if time.monotonic() > deadline:
            return False
        wait_for(Cause.REQUEST, 0.1)
    return True


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
