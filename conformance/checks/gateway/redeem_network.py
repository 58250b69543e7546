"""Pipelined redemptions on one connection."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.isolated_user import expect_orders, isolated_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.wire import backend as backend_wire


@check("REDEEM-12", needs=["merchant"])
def redemptions_in_a_row_are_answered_each_by_its_own(gateway: Gateway, world: World) -> None:
    """Redemptions of two users, pipelined on one connection, each return the right user's token."""
    first = isolated_user(world)
    both = (first, first.beside())
    agent, proxy_token = world.agents.new(), first.proxy_token()
    grants = [alone.grant(agent) for alone in both]
    for alone, grant in zip(both, grants, strict=True):
        world.backend.require_redeemed(grant, proxy_token)
        world.order_ids(alone.user)
    requests = [
        backend_wire.redemption(
            gateway.base_url,
            bearer=grant.access_token,
            proxy_token=proxy_token,
            resource=grant.resource.indicator,
        )
        for grant in grants
    ]

    answers = gateway.wire.pipelined("redemptions pipelined on one connection", requests)

    if answers[-1].answer is None:
        raise LeftOut("the gateway answers only one request for each connection")
    for alone, answer in zip(both, answers, strict=True):
        expect(answer).status(200)
        token = expect.text(answer.member("access_token"), "access_token of the redemption")
        gateway.keyring.secret("merchant_access_token", token)
        expect_orders(alone, token)
