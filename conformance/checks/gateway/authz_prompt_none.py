"""Requests with `prompt=none`: a gateway that knows the user may answer them without any page.

Such an answer often comes from a branch of its own. Whatever is no code elsewhere is none there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gateproof.conformance.checks.gateway._visits import (
    attempt_known_to_work,
    no_code,
    pending_agent,
    visit_with,
)
from gateproof.conformance.checks.gateway.authz_request import (
    MISSING,
    RESPONSE_TYPES,
    no_code_and_no_token,
)
from gateproof.conformance.checks.gateway.authz_scope import FOREIGN_SCOPES, does_not_grant
from gateproof.conformance.kit.gateway.gateway import Visit
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.parties import Attempt

SILENTLY = {"prompt": "none"}
NAMES = ("response_type", "scope", "state", "code_challenge", "code_challenge_method", "both-pkce-parameters")
# Makes the parameters of another method from an attempt.
METHODS: Mapping[str, Callable[[Attempt], dict[str, str]]] = {
    "plain": lambda _: {"code_challenge_method": "plain"},
    "plain-challenge": lambda attempt: {
        "code_challenge_method": "plain",
        "code_challenge": attempt.verifier.reveal(),
    },
    "S512": lambda _: {"code_challenge_method": "S512"},
}
# Clients without a back end renew their tokens so, in a hidden frame.
TYPES = {
    name: RESPONSE_TYPES[name]
    for name in ("token", "id_token", "id_token-token", "code-token", "code-id_token", "none")
}


@check("AUTHZ-03", cases={name: MISSING[name] for name in NAMES})
def silent_request_without_it_gives_no_code(world: World, case: tuple[str, ...]) -> None:
    """A request with prompt=none and without a required parameter gives no code, also to a known agent."""
    world, attempt = attempt_known_to_work(world)
    left = {name: value for name, value in attempt.parameters.items() if name not in case}

    visit = world.gateway.visit(attempt, pairs=list({**left, **SILENTLY}.items()), wherever=True)
    no_code(visit, f"authorization with prompt=none and without {' and '.join(case)}")


@check("AUTHZ-04", cases=METHODS)
def silent_request_with_another_method_gives_no_code(
    world: World, case: Callable[[Attempt], dict[str, str]]
) -> None:
    """A request with prompt=none and another method than S256 gives no code, also to a known agent."""
    world, attempt = attempt_known_to_work(world)

    no_code(_silent(world, attempt, **case(attempt)), "authorization with prompt=none and another method")


@check("AUTHZ-05", cases=TYPES)
def silent_request_of_another_type_gives_no_code(world: World, case: str) -> None:
    """A request with prompt=none and another response_type than code gives no code and no token."""
    world, attempt = attempt_known_to_work(world)

    visit = _silent(world, attempt, response_type=case)
    no_code_and_no_token(visit, f"authorization with prompt=none and response_type={case}")


@check("AUTHZ-07")
def pending_agent_gets_no_code_silently(world: World) -> None:
    """A request of a Pending agent with prompt=none gives no code, also after the user has signed in.

    The user's answer to the first request may be stored, although the agent is Pending.
    """
    world = world.in_one_browser()
    world.new_code()
    resource = world.projects.holding_resource()
    agent = pending_agent(world, resource)
    for which in ("first", "second"):
        visit = _silent(world, world.attempt(agent, resource=resource))
        no_code(visit, f"{which} authorization of a Pending agent with prompt=none")


@check("AUTHZ-18")
def silent_request_grants_no_foreign_scope(world: World) -> None:
    """A request with prompt=none does not grant a scope that the Resource lacks, also to a known agent."""
    world, attempt = attempt_known_to_work(world)

    does_not_grant(world, attempt, FOREIGN_SCOPES["unknown"](""), **SILENTLY)


def _silent(world: World, attempt: Attempt, **parameters: str) -> Visit:
    return visit_with(world, attempt, **parameters, **SILENTLY)
