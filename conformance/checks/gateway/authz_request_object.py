"""A request object (RFC 9101): JSON in the parameter `request` that may replace other parameters.

A gateway may ignore it or refuse the request. It must not check the parameters, and then use those of an
object that nobody signed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gateproof.conformance.checks.gateway._exchanges import no_tokens
from gateproof.conformance.checks.gateway._visits import (
    attempt_known_to_work,
    is_not_sent_to,
    no_code,
)
from gateproof.conformance.kit.gateway.gateway import Visit
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.parties import Attempt
from gateproof.conformance.wire.agent import fresh_verifier
from gateproof.conformance.wire.jose import unsigned_jwt

UNREGISTERED = "https://evil.example/callback"
NOBODY = "gateproof-nobody"


# Which of the attempt's parameters stay in the query: all, or those that OpenID Connect keeps there.
SPELLINGS: Mapping[str, Callable[[str], bool]] = {
    "beside-all-parameters": lambda _name: True,
    "beside-few-parameters": lambda name: name in ("client_id", "response_type", "scope"),
}


@check("AUTHZ-06", cases=SPELLINGS)
def request_object_brings_no_unregistered_uri(world: World, case: Callable[[str], bool]) -> None:
    """A redirect URI in an unsigned request object is not gone to unless the agent registered it."""
    world, attempt = attempt_known_to_work(world)
    world.show(UNREGISTERED)

    visit = _with_object(world, attempt, case, redirect_uri=UNREGISTERED)

    is_not_sent_to(UNREGISTERED, visit, "authorization with an unregistered redirect URI in a request object")


@check("AUTHZ-11", cases=SPELLINGS)
def request_object_brings_no_unknown_client(world: World, case: Callable[[str], bool]) -> None:
    """An unknown client_id gets no code, although a request object names an agent that is known."""
    world, attempt = attempt_known_to_work(world)
    world.show(NOBODY)

    visit = _with_object(world, attempt, case, instead={"client_id": NOBODY})

    no_code(visit, "authorization of an unknown client with a request object")


@check("AUTHZ-04", cases=SPELLINGS)
def request_object_brings_no_plain_challenge(world: World, case: Callable[[str], bool]) -> None:
    """A plain challenge in an unsigned request object gives no code that its verifier could redeem."""
    world, attempt = attempt_known_to_work(world)
    plain = fresh_verifier()

    visit = _with_object(world, attempt, case, code_challenge=plain, code_challenge_method="plain")

    if not visit.codes():
        no_code(visit, "authorization with a plain challenge in a request object")
        return
    authorization = world.authorization_of(attempt, visit.codes()[0])
    answer = world.gateway.exchange(authorization, code_verifier=plain)
    no_tokens(answer, "the plain verifier of a request object")


def _with_object(
    world: World,
    attempt: Attempt,
    stays: Callable[[str], bool],
    instead: dict[str, str] | None = None,
    **claims: str,
) -> Visit:
    """The request with an object of these claims; `instead` replaces parameters of the query."""
    query = {name: value for name, value in attempt.parameters.items() if stays(name)} | (instead or {})
    whole = {"iss": attempt.agent.client_id, **attempt.parameters, **claims}
    pairs = [*query.items(), ("request", unsigned_jwt(whole))]
    return world.gateway.visit(attempt, pairs=pairs, wherever=True)
