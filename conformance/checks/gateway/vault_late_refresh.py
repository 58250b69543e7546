"""A refresh of the old token that the merchant answers after the user has authorized again."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._held_refreshes import HELD_S, redeeming_while_held
from gateproof.conformance.checks.gateway.vault_assertions import JWT_BEARER, TOKEN_EXCHANGE
from gateproof.conformance.kit.gateway.failure_oracle import ExpiringToken, expiring_soon
from gateproof.conformance.kit.gateway.isolated_user import isolated_user, let_expire, require_unexpired
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire.exchange import Exchange

# Of the token from the new authorization: it is far from its end throughout the check.
LONG_LIFE_S = 36_000


@check("VAULT-04", alone=True)
def late_refresh_of_the_old_token_spares_the_new_one(world: World) -> None:
    """If the old token's refresh succeeds after the user has authorized again, the new token stays.

    The refreshed token expires soon, and the merchant accepts no refresh any more; the token from the new
    authorization is still valid then. In the positive twin there is no refresh.
    """
    alone, agent, gate = isolated_user(world, own=True), world.agents.new(), world.unique()
    twin = expiring_soon(alone, agent)
    let_expire(world)
    answer = _after_the_old_grant(twin, _authorized_again(twin))
    if answer.status == 410:
        raise LeftOut("a new authorization does not replace a merchant token that can be refreshed")
    require(answer).status(200)

    due = expiring_soon(alone, agent)
    alone.short_lived(refresh={"outcome": "hold", "gate": gate, "seconds": HELD_S})
    let_expire(world)
    with redeeming_while_held(due, gate):
        before = len(alone.asked(JWT_BEARER, TOKEN_EXCHANGE))
        renewed = _authorized_again(due)
        provisioned = alone.served_again(before, agent.client_id, JWT_BEARER, TOKEN_EXCHANGE)
        if not provisioned or any(entry.status is not None for entry in due.refreshes()):
            raise LeftOut("the gateway gets no new token before the refresh of the old one is answered")
        alone.short_lived()
    answer = _after_the_old_grant(due, renewed)

    expect.that(
        answer.status != 410,
        "redemption after a new authorization, whose merchant token has not expired",
        expected="no 410 because of an older refresh that was answered later",
        got=answer.outcome(),
        exchange=answer,
    )
    require(answer).status(200)


def _authorized_again(due: ExpiringToken) -> Grant:
    """The user authorizes the agent again; the merchant's new token lives for long."""
    due.alone.script(access_token_lifetime_s=LONG_LIFE_S)
    return due.alone.grant(due.agent)


def _after_the_old_grant(due: ExpiringToken, renewed: Grant) -> Exchange:
    """A redemption after the end of tokens of the old grant, when the merchant accepts no refresh."""
    world = due.alone.world
    due.alone.script(refresh="reject")
    let_expire(world)
    answer = world.backend.redeem_once_provisioned(renewed, due.proxy_token, not_yet=(404, 410))
    require_unexpired(world, renewed, answer)
    return answer
