"""The scopes that an agent requests and those that it is granted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gateproof.conformance.checks.gateway._exchanges import code_after_working_exchange, no_tokens
from gateproof.conformance.checks.gateway._extra_fields import GRANTS, with_field
from gateproof.conformance.checks.gateway._visits import attempt_known_to_work, no_code, visit_with
from gateproof.conformance.kit.gateway.gateway import Gateway, Visit
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe, require, values_of_choice
from gateproof.conformance.suite.parties import Attempt
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.jose import read

# Makes a scope that the Resource does not have from one that it has.
FOREIGN_SCOPES: Mapping[str, Callable[[str], str]] = {
    "unknown": lambda _: "gateproof:everything",
    "longer": lambda scope: scope + ":all",
    "longer-by-a-full-stop": lambda scope: scope + ".all",
    "longer-by-a-slash": lambda scope: scope + "/all",
    "beginning": lambda scope: scope[:-1],
    "wildcard": lambda scope: scope.partition(":")[0] + ":*",
    "star": lambda _: "*",
    "other-case": lambda scope: scope.swapcase(),
}


@check("AUTHZ-13")
def record_of_scopes_that_lack_something(world: World) -> None:
    """Records the answer to a request without `openid`, without a Resource scope, or with an unknown one."""
    world = world.in_one_browser()
    attempt = world.attempt()
    scopes = attempt.resource.scopes
    require.that(bool(scopes), "Resource", expected="a scope of its own", got="none")
    for name, scope in {
        "without_openid": " ".join(scopes),
        "without_one_of_the_resource": "openid",
        "unknown_beside_good_ones": " ".join(("openid", *scopes, "gateproof:unknown")),
    }.items():
        observe(**{name: _kind(visit_with(world, attempt, scope=scope))})


@check("AUTHZ-13", needs=["control:set_agent_policy", "control:create_project"])
def record_of_when_the_policy_is_applied(gateway: Gateway, world: World) -> None:
    """Records the result for an agent that registered before its Project began to hold agents."""
    project = world.projects.new()
    agent = world.agents.new()
    world.projects.set_agent_policy(project, "hold")

    visit = gateway.visit(world.attempt(agent, resource=project.resource), wherever=True)

    observe(registered_before_the_project_held=_kind(visit))


@check("AUTHZ-18", cases=FOREIGN_SCOPES)
def scope_that_the_resource_lacks_is_not_granted(world: World, case: Callable[[str], str]) -> None:
    """An invented scope is refused, or is not among the granted scopes."""
    world, attempt = attempt_known_to_work(world)
    require.that(bool(attempt.resource.scopes), "Resource", expected="a scope of its own", got="none")
    foreign = case(attempt.resource.scopes[0])
    if not foreign or foreign in attempt.parameters["scope"].split():
        raise LeftOut("the scopes of this Resource have no such near miss")

    does_not_grant(world, attempt, foreign)


@check("AUTHZ-18")
def scope_that_the_resource_lacks_is_not_granted_in_a_new_browser(world: World) -> None:
    """An invented scope is not granted to a new agent in a new browser."""
    world.grant()

    does_not_grant(world, world.attempt(), FOREIGN_SCOPES["unknown"](""))


@check("AUTHZ-18", needs=["control:create_resource"])
def scope_of_another_resource_is_not_granted(world: World) -> None:
    """A scope of another Resource in the same Project is not granted at this Resource."""
    foreign = f"refunds:{world.unique()}"
    other = world.projects.resource(
        indicator=f"https://api.merchant.example/v3/{world.unique()}", scopes=(foreign,)
    )
    world.new_code(resource=other)
    world, attempt = attempt_known_to_work(world)

    does_not_grant(world, attempt, foreign)


@check("AUTHZ-18", cases=GRANTS)
def scope_that_the_token_request_adds_is_not_granted(world: World, case: str) -> None:
    """An invented scope is not granted if only a code exchange or a refresh names it."""
    world, authorization = code_after_working_exchange(world)
    attempt = world.attempt(authorization.agent)
    foreign = FOREIGN_SCOPES["unknown"]("")
    scope = f"{attempt.parameters['scope']} {foreign}"

    answer = with_field(world, case, "scope", scope, agent=attempt.agent, resource=attempt.resource)
    if answer.status in range(400, 500):
        no_tokens(answer, f"the scope {foreign}, at the {case}")
        return
    holds_none(require(answer).status(200), foreign)


@check("AUTHZ-18", cases=("scope", "scopes"))
def scope_that_the_registration_names_is_not_granted(world: World, case: str) -> None:
    """A scope that the Resource lacks is not granted to an agent that named it when it registered."""
    world, attempt = attempt_known_to_work(world)
    foreign = f"refunds:{world.unique()}"
    named = ["openid", *attempt.resource.scopes, foreign]
    metadata = world.agents.metadata() | {case: " ".join(named) if case == "scope" else named}
    registered = world.gateway.register(metadata)
    if registered.status in range(400, 500):
        raise LeftOut("the gateway refuses registrations that name scopes")

    does_not_grant(world, world.attempt(world.agents.of(registered)), foreign)


def does_not_grant(world: World, attempt: Attempt, foreign: str, **further: str) -> None:
    """The scope is refused, or is not granted; the request has the `further` parameters, too."""
    visit = visit_with(world, attempt, scope=f"{attempt.parameters['scope']} {foreign}", **further)
    if not visit.codes():
        no_code(visit, f"authorization with the scope {foreign}")
        return
    answer = world.gateway.exchange(world.authorization_of(attempt, visit.codes()[0]))
    if answer.status in range(400, 500):
        no_tokens(answer, f"the scope {foreign}, for which a code was given")
        return
    with values_of_choice():
        require(answer).status(200)
    require.text(answer.member("scope"), "scope of the code exchange")
    holds_none(answer, foreign)


def holds_none(answer: Exchange, foreign: str) -> None:
    """Neither the answer nor its token grants this scope; the answer to a refresh need not name any scope."""
    granted = answer.member("scope")
    named = granted.split() if isinstance(granted, str) else ()
    expect.that(foreign not in named, "granted scopes", expected=f"no {foreign}", got=granted)
    token = read(str(answer.member("access_token")))
    claims: Mapping[str, Any] = token.claims if token is not None else {}
    for name in ("scope", "scp", "scopes"):
        value = claims.get(name, "")
        held = value.split() if isinstance(value, str) else value
        expect.that(
            not isinstance(held, list) or foreign not in held,
            f"{name} in the access token",
            expected=f"no {foreign}",
            got=value,
        )


def _kind(visit: Visit) -> str:
    """How a visit ended, in words that are safe to record."""
    if visit.codes():
        return "a code"
    errors = [value for name, value in visit.sent() if name == "error" and value.replace("_", "").isalpha()]
    if visit.sent_to is not None:
        return f"a redirect with {errors[0]}" if errors else "a redirect without a code"
    return f"a page with status {visit.status}" if visit.status is not None else "a page"
