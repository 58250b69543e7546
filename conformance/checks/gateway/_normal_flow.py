"""The normal flow, from registration to the merchant token: before, during and after a fault."""

from __future__ import annotations

import time
from collections.abc import Callable

from gateproof.conformance.kit.gateway.merchant_recovery import Recovery
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import Unmet, Violated, expect, rule_requires
from gateproof.conformance.suite.parties import User
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import RECOVERY_S
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret


def works_before(world: World, user: User | None = None, *, within_s: float = 0.0) -> None:
    """The positive twin: the flow works before the fault; other checks' faults may need time to clear."""
    deadline = time.monotonic() + within_s
    while True:
        try:
            world.backend.require_redeemed(world.grant(user=user), world.backend.proxy_token())
        except Unmet:
            if time.monotonic() > deadline:
                raise
            wait_for(Cause.RECOVERY, 0.5)
        else:
            return


def works_during(world: World, user: User | None = None) -> None:
    """Each step of the flow succeeds at the first try while the fault lasts."""
    expect(_flow(world, user)).status(200)


def works_again(world: World) -> None:
    """The flow succeeds before the deadline, after the fault has ended."""
    succeeds(lambda: _flow(world, None), "redemption at the end of the normal flow")


def succeeds(flow: Callable[[], Exchange], what: str, recovery: Recovery | None = None) -> None:
    """The flow succeeds before the deadline, at the first or a later try."""
    deadline = time.monotonic() + RECOVERY_S

    def is_over(answer: Exchange | None) -> bool:
        return time.monotonic() > deadline if recovery is None else recovery.is_over(answer)

    while True:
        try:
            with rule_requires():
                answer = flow()
        except Violated:
            if is_over(None):
                raise
        else:
            if answer.status == 200 or is_over(answer):
                break
        wait_for(Cause.RECOVERY, 0.5)
    expect.that(answer.status == 200, what, expected="status 200", got=answer.outcome(), exchange=answer)


def _flow(world: World, user: User | None) -> Exchange:
    agent = world.agents.within_limits(world.gateway.register(world.agents.metadata()))
    expect(agent).status(200, 201)
    attempt = world.attempt(world.agents.of(agent), user=user)
    visit = world.gateway.visit(attempt)
    code = expect.text(visit.parameter("code"), f"code, after {visit.outcome()}")
    tokens = world.gateway.exchange(world.authorization_of(attempt, code))
    expect(tokens).status(200)
    proxy = world.gateway.proxy_token(world.projects.home().proxy_client)
    expect(proxy).status(200)
    bearer = Secret("access_token", str(tokens.member("access_token")))
    return _redeemed(world, bearer, Secret("proxy_token", str(proxy.member("access_token"))))


def _redeemed(world: World, bearer: Secret, proxy_token: Secret) -> Exchange:
    """Redeems; a 404 directly after sign-in is retried, because provisioning may not have finished."""
    deadline = time.monotonic() + RECOVERY_S
    while True:
        answer = world.gateway.redeem(bearer, proxy_token, world.projects.home().resource.indicator)
        if answer.status != 404 or time.monotonic() > deadline:
            return answer
        wait_for(Cause.PROVISIONING, 0.25)
