"""Users whose name at the merchant is long, in another script, or special in a programming language."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._openid_sign_in import openid_sign_in
from gateproof.conformance.checks.gateway._robust_steps import flow_is_robust
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut

USER_NAMES = {
    "prototype": "__proto__",
    "cyrillic-and-arabic": "Мария علي",
    "emoji": "\N{PERSON WITH BALL}\N{EMOJI MODIFIER FITZPATRICK TYPE-4} \N{CJK UNIFIED IDEOGRAPH-20BB7}",
    "combining-marks": "a" + "\N{COMBINING GRAVE ACCENT}" * 20,
    "quotes": 'O\'Gate "Proof" \\ `x`',
    "format-string": "100 % %s %(name)d {} {0.x} ${x}",
    "long": "gateproof " * 30,
}
# The members of OpenID Connect that name a person; none of them identifies a user.
_NAMING = ("name", "given_name", "family_name", "nickname")


@check("ROBUST-01", needs=["merchant", "sign-in:browser"], cases=USER_NAMES)
def name_of_a_user_breaks_no_step(world: World, case: str) -> None:
    """A user whom the merchant gives a special name causes no server error at sign-in and exchange.

    The user has got a code with an ordinary name. What the gateway answers is its choice.
    """
    signing_in = openid_sign_in(world)
    said = dict.fromkeys(_NAMING, case)

    def flow() -> None:
        second = signing_in.again(id_token=said, userinfo=said)
        if not second.exchanged():
            raise LeftOut("the gateway did not exchange the merchant's code again")
        code = second.visit.parameter("code")
        if code is not None:
            world.gateway.exchange(world.authorization_of(second.attempt, code))

    flow_is_robust(world, flow, f"sign-in of a user who is called {case[:40]!a}")
