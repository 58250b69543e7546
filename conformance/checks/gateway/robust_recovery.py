"""The normal flow works again after faults, without a restart."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._normal_flow import succeeds, works_again, works_before
from gateproof.conformance.faults.merchant_answers import SIGN_INS, MerchantFault
from gateproof.conformance.kit.gateway import failure_oracle
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.isolated_user import isolated_user
from gateproof.conformance.kit.gateway.merchant_recovery import recovery_from_now
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.inputs import odd_input as odd
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unmet, require
from gateproof.conformance.wire import agent as agent_wire
from gateproof.conformance.wire import backend as backend_wire
from gateproof.conformance.wire.exchange import Exchange, Request
from gateproof.conformance.wire.secret import Secret

FLOOD = 240
# Earlier checks may also have overloaded a gateway; it has this long to recover before the flood.
CALM_S = 40.0


@check("ROBUST-02", alone=True)
def normal_flow_works_after_a_flood_of_bad_input(gateway: Gateway, world: World) -> None:
    """The normal flow works after hundreds of concurrent odd requests at every endpoint."""
    # If the flow never worked, waiting for it is useless.
    works_before(world, within_s=CALM_S if world.worker_state.token_life_s is not None else 0)

    answered = gateway.wire.send_many(_flood(gateway, world), at_once=8)

    works_again(world)
    require.that(answered >= FLOOD // 2, "the flood", expected=f"{FLOOD} answers", got=f"{answered}")


@check(
    "ROBUST-02",
    needs=["merchant", "faults"],
    alone=True,
    cases={name: SIGN_INS[name] for name in ("server-error", "invalid-json", "wrong-shape", "html")},
)
def normal_flow_works_after_the_merchant_broke(world: World, case: MerchantFault) -> None:
    """Redemption works after the merchant failed during a sign-in and has recovered."""
    works_before(world)
    # A user without a token at the gateway: an existing token would hide that nothing works.
    alone = isolated_user(world, own=True)
    alone.script(provisioning=case.scripted())
    # Other checks test whether this sign-in succeeds.
    gateway = world.gateway
    gateway.visit(world.attempt(resource=alone.resource, user=alone.user), wherever=True)
    try:
        failure_oracle.wait_for_provisioning_fault(alone, case)
    except Unmet as unmet:
        raise LeftOut("the gateway gets merchant tokens by the grant that signs users in") from unmet
    alone.script()
    recovery = recovery_from_now(alone)

    def again() -> Exchange:
        return world.backend.redeem_once_provisioned(alone.grant(), alone.proxy_token())

    succeeds(again, "redemption after the merchant has recovered", recovery)


def _flood(gateway: Gateway, world: World) -> list[Request]:
    """Odd requests to every endpoint, interleaved."""
    register = agent_wire.registration(agent_wire.registration_endpoint(gateway.base_url), {})
    tokens = agent_wire.form_post(agent_wire.token_endpoint(gateway.core_url), [])
    nobody = Secret("nobody", "nobody")
    redeem = backend_wire.redemption(gateway.base_url, bearer=nobody, proxy_token=nobody, resource=None)
    resource = world.projects.home().resource
    pages = [
        Request(method="GET", url=f"{agent_wire.authorization_endpoint(gateway.base_url, resource.id)}?a=b"),
        Request(method="GET", url=agent_wire.discovery_url(gateway.base_url, f"{resource.id}x")),
    ]
    bodies = [body for body in odd.BODIES.values() if len(body) < 10_000]
    posts = [
        Request(method="POST", url=each.url, headers=each.headers, body=body)
        for body in bodies
        for each in (register, tokens, redeem)
    ]
    turns = [request for post in posts for request in (post, *pages)]
    return (turns * (FLOOD // len(turns) + 1))[:FLOOD]
