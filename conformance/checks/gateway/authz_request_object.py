"""A request object (RFC 9101): JSON in the parameter `request` that may replace other parameters.

A gateway may ignore it or refuse the request. It must not check the parameters, and then use those of an
object that nobody signed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gateproof.conformance.checks.gateway._exchanges import no_tokens
from gateproof.conformance.checks.gateway._visits import attempt_known_to_work, is_not_sent_to, no_code
from gateproof.conformance.checks.gateway.authz_request import ends_without_its_uri
from gateproof.conformance.kit.gateway.gateway import Visit
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import require
from gateproof.conformance.suite.parties import Attempt
from gateproof.conformance.wire.agent import fresh_verifier
from gateproof.conformance.wire.jose import unsigned_jwt

UNREGISTERED = "https://evil.example/callback"
NOBODY = "gateproof-nobody"


def _every_one(_name: str) -> bool:
    return True


def _few(name: str) -> bool:
    """Those that OpenID Connect demands in the query beside an object."""
    return name in ("client_id", "response_type", "scope")


# Which parameters of the request are in its query, too.
IN_THE_QUERY: Mapping[str, Callable[[str], bool]] = {
    "beside-all-parameters": _every_one,
    "beside-few-parameters": _few,
}


@check("AUTHZ-06", cases=IN_THE_QUERY)
def request_object_brings_no_unregistered_uri(world: World, case: Callable[[str], bool]) -> None:
    """A redirect URI in an unsigned request object is not opened unless the agent registered it.

    If the query has no redirect URI, no code comes at all.
    """
    world, attempt = attempt_known_to_work(world)
    world.show(UNREGISTERED)
    visit = _with_object(world, attempt, case, redirect_uri=UNREGISTERED)

    what = "authorization with an unregistered redirect URI in a request object"
    require.that(visit.ended(), what, expected="the browser on a page or elsewhere", got=visit.outcome())
    is_not_sent_to(UNREGISTERED, visit, what)
    if case is _few:
        no_code(visit, what)


@check("AUTHZ-11", cases=IN_THE_QUERY)
def request_object_brings_no_unknown_client(world: World, case: Callable[[str], bool]) -> None:
    """An unknown client_id gets no code and no redirect, although a request object names a known agent."""
    world, attempt = attempt_known_to_work(world)
    world.show(NOBODY)

    visit = _with_object(world, attempt, case, instead={"client_id": NOBODY})

    ends_without_its_uri(visit, attempt, "authorization of an unknown client with a request object")


@check("AUTHZ-04", cases=IN_THE_QUERY)
def request_object_brings_no_plain_challenge(world: World, case: Callable[[str], bool]) -> None:
    """A plain challenge in an unsigned request object gives no code that its verifier, or none, could redeem.

    If the query has no challenge, no code comes at all.
    """
    world, attempt = attempt_known_to_work(world)
    plain = world.gateway.keyring.secret("code_verifier", fresh_verifier()).reveal()
    for verifier in (plain, None):
        visit = _with_object(world, attempt, case, code_challenge=plain, code_challenge_method="plain")
        if case is _few or not visit.codes():
            no_code(visit, "authorization with a plain challenge in a request object")
            return
        authorization = world.authorization_of(attempt, visit.codes()[0])
        answer = world.gateway.exchange(authorization, code_verifier=verifier)
        no_tokens(answer, "the verifier of a request object" if verifier else "no verifier")


def _with_object(
    world: World,
    attempt: Attempt,
    is_in_the_query: Callable[[str], bool],
    instead: dict[str, str] | None = None,
    **claims: str,
) -> Visit:
    """The request with an object of these claims; `instead` replaces parameters of the query."""
    query = {name: value for name, value in attempt.parameters.items() if is_in_the_query(name)}
    whole = {"iss": attempt.agent.client_id, **attempt.parameters, **claims}
    pairs = [*{**query, **(instead or {})}.items(), ("request", unsigned_jwt(whole))]
    return world.gateway.visit(attempt, pairs=pairs, wherever=True)
