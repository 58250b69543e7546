"""Resources whose indicator is a special name in a programming language or database."""

from __future__ import annotations

from contextlib import suppress

from gateproof.conformance.checks.gateway._robust_steps import flow_is_robust
from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.signin.sign_in_result import SignInFailed
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import Unmet

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

    def flow() -> None:
        # A step may be refused, but not with a server error.
        with suppress(Unmet, SignInFailed):
            grant = world.grant(resource=resource)
            world.backend.redeem_once_provisioned(grant, world.backend.proxy_token(project))

    flow_is_robust(world, flow, f"a Resource whose indicator is {case!a}")
