"""A sign-in that the merchant's identity provider does not finish gives no code."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from gateproof.conformance.checks.gateway._openid_sign_in import end_merchant_backoff, openid_sign_in
from gateproof.conformance.checks.gateway._unfinished_sign_ins import UNFINISHED_SIGN_INS
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.signin.sign_in_result import SignInFailed
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unmet, expect
from gateproof.conformance.wire.client import RateLimited


@check("AUTHZ-20", needs=["sign-in:browser", "merchant"], alone=True, cases=UNFINISHED_SIGN_INS)
def sign_in_that_the_provider_does_not_finish_gives_no_code(world: World, case: Mapping[str, Any]) -> None:
    """If the identity provider does not finish a user's second sign-in, the user gets no code.

    The password is correct. The browser may show any page, an error page included.
    """
    signing_in = openid_sign_in(world)
    outcome = _name(next(iter(case.values())))
    second = signing_in.again(**case)
    if not second.visit.codes() and not second.met(outcome):
        raise LeftOut("the gateway did not come to the step that the provider does not finish")

    try:
        expect.that(
            not second.visit.codes(),
            f"sign-in that ends at the identity provider with {outcome}",
            expected="no code",
            got=second.visit.outcome(),
        )
    finally:
        if "sign_in" in case:
            # An error here must not replace the result of the check.
            with suppress(Unmet, LeftOut, SignInFailed, RateLimited):
                end_merchant_backoff(signing_in.alone)


def _name(outcome: str | Mapping[str, Any]) -> str:
    return outcome if isinstance(outcome, str) else str(outcome["outcome"])
