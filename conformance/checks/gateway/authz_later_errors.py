"""Error redirects of authorizations that end after the sign-in has begun.

The gateway has to keep the request while the user is redirected to the merchant and back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from gateproof.conformance.checks.gateway._error_redirects import (
    STATE,
    has_error_and_state,
    is_an_error_redirect,
    names_the_issuer,
)
from gateproof.conformance.checks.gateway._openid_sign_in import (
    SecondSignIn,
    end_merchant_backoff,
    openid_sign_in,
)
from gateproof.conformance.checks.gateway._unfinished_sign_ins import UNFINISHED_SIGN_INS
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.signin.sign_in_result import SignInFailed
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unmet
from gateproof.conformance.wire.client import RateLimited

_SOME_ENDS = {
    name: UNFINISHED_SIGN_INS[name] for name in ("access-denied", "login-required", "code-refused", "html")
}


@check("AUTHZ-24", needs=["sign-in:browser", "merchant"], alone=True, cases=_SOME_ENDS)
def redirect_after_an_unfinished_sign_in_has_error_and_state(world: World, case: Mapping[str, Any]) -> None:
    """If the provider does not finish a sign-in, an error redirect has `error` and the agent's `state`."""
    with _unfinished(world, case) as second:
        has_error_and_state(second.attempt, second.visit)


@check("AUTHZ-25", needs=["sign-in:browser", "merchant"], alone=True, cases=_SOME_ENDS)
def issuer_after_an_unfinished_sign_in_is_the_discovered_one(world: World, case: Mapping[str, Any]) -> None:
    """If the provider does not finish a sign-in, `iss` in an error redirect is the discovered issuer."""
    with _unfinished(world, case) as second:
        issuer = world.discovery(second.attempt.resource).get("issuer")
        is_an_error_redirect(second.attempt, second.visit)
        names_the_issuer(second.visit, issuer)


@check("AUTHZ-24", needs=["sign-in:browser"])
def redirect_for_a_pending_agent_has_error_and_state(world: World) -> None:
    """Each error redirect for a Pending agent has `error` and the agent's `state`."""
    here, resource = world.in_one_browser(), world.projects.holding_resource()
    here.new_code()
    agent = here.agents.new()
    for _ in range(2):
        attempt = here.attempt(agent, resource=resource, state=STATE)
        has_error_and_state(attempt, here.gateway.visit(attempt, wherever=True))


@check("AUTHZ-25", needs=["sign-in:browser"])
def issuer_in_the_redirect_for_a_pending_agent_is_the_discovered_one(world: World) -> None:
    """`iss` in an error redirect for a Pending agent is the issuer of the discovery document."""
    here, resource = world.in_one_browser(), world.projects.holding_resource()
    here.new_code()
    issuer = here.discovery(resource).get("issuer")
    attempt = here.attempt(resource=resource)
    visit = here.gateway.visit(attempt, wherever=True)
    is_an_error_redirect(attempt, visit)

    names_the_issuer(visit, issuer)


@contextmanager
def _unfinished(world: World, script: Mapping[str, Any]) -> Iterator[SecondSignIn]:
    """A sign-in that the provider does not finish; an earlier sign-in of the same user gave a code."""
    signing_in = openid_sign_in(world)
    second = signing_in.again(**script)
    try:
        if not second.met(next(iter(script.values()))):
            raise LeftOut("the gateway did not come to the step that the provider does not finish")
        yield second
    finally:
        if "sign_in" in script:
            # An error here must not replace the result of the check.
            with suppress(Unmet, LeftOut, SignInFailed, RateLimited):
                end_merchant_backoff(signing_in.alone)
