"""Resources whose indicator is a special name in a programming language or database."""

from __future__ import annotations

from contextlib import suppress

from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.robust_answers import is_robust, leave_out_if_busy
from gateproof.conformance.signin.sign_in_result import SignInFailed
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import Unmet, expect
from gateproof.conformance.wire.route import origin

INDICATORS = {
    "prototype": "__proto__",
    "constructor": "constructor",
    "to-string": "toString",
    "null": "null",
    "address-of-a-prototype": "https://api.merchant.example/__proto__",
    "nul": "https://api.merchant.example/a\x00b",
    "format-string": "https://api.merchant.example/%s%n{0}${x}",
}


@check("ROBUST-01", needs=["merchant", "control:create_resource", "control:create_project"], cases=INDICATORS)
def indicator_with_a_special_name_breaks_no_step(world: World, case: str) -> None:
    """A Resource with a special name as its indicator, if it can be created, causes no server error.

    Authorization, exchange and redemption are tried; what they answer is the gateway's choice.
    """
    world.backend.require_redeemed(world.grant(), world.backend.proxy_token())
    project = world.projects.new()
    resource = console.resource_in(world, project, case)
    before = len(world.seen())
    # A step may be refused, but not with a server error.
    with suppress(Unmet, SignInFailed):
        grant = world.grant(resource=resource)
        world.backend.redeem_once_provisioned(grant, world.backend.proxy_token(project))

    own = {origin(world.gateway.base_url), origin(world.gateway.core_url)}
    asked = [each for each in list(world.seen())[before:] if origin(each.request.url) in own]
    bad = [each for each in asked if not is_robust(each)]
    leave_out_if_busy(bad)
    expect.that(
        bool(asked) and not bad,
        f"a Resource whose indicator is {case!a}",
        expected="an answer in time and below 500 at every step",
        got="; ".join(f"{each.step}: {each.outcome()}" for each in bad[:3]) or "none",
        exchange=bad[0] if bad else None,
    )
