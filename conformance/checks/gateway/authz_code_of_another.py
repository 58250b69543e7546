"""A browser that returns from the merchant with the code of another user's sign-in."""

from __future__ import annotations

from dataclasses import replace

from gateproof.conformance.checks.gateway._openid_sign_in import openid_sign_in
from gateproof.conformance.checks.gateway._visits import was_answered
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect

# The `state` with which the browser returns, in the words of the fake merchant's scripts. An attacker knows
# the state of their own sign-in, which another check sends, but not that of the victim's.
STATES = ("missing", "empty", "another")


@check("AUTHZ-19", needs=["sign-in:browser", "merchant", "users:2"], cases=STATES)
def code_of_another_sign_in_signs_its_user_in_nowhere(world: World, case: str) -> None:
    """A browser that returns with another user's code, and without a valid `state`, is not signed in as them.

    The other user has signed in at the merchant, but their browser has not returned to the gateway. The
    browser has begun a sign-in of its own, which succeeded before.
    """
    signing_in = openid_sign_in(world)
    other = replace(signing_in, alone=signing_in.alone.beside())
    if not other.again(page="keep_code").met("keep_code"):
        raise LeftOut("the second user did not come to the merchant's sign-in form")
    user = other.alone.user
    scripted = f"code_of={user.login}"
    second = signing_in.again(page=scripted, state=case)
    if not second.met(scripted):
        raise LeftOut("the first user did not come to the merchant's sign-in form again")

    was_answered(second.visit, "return from the merchant with the code of another sign-in")
    expect.that(
        not second.visit.codes() or not second.is_about(user),
        f"return from the merchant with the code of another sign-in, and a state that is {case}",
        expected="no code, or one for the user of this browser",
        got="a code for the user of the other sign-in",
    )
