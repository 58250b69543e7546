"""Redemption for a user for whom the merchant answered 200 without a token at sign-in."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._token_owner import expect_owner
from gateproof.conformance.faults.merchant_answers import NONSENSE, MerchantFault
from gateproof.conformance.kit.gateway import failure_oracle
from gateproof.conformance.kit.gateway.isolated_user import IsolatedUser, isolated_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, values_of_choice
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire.exchange import Exchange

EMPTY = ("html", "invalid-json", "wrong-shape", "no-token", "refusal-as-a-success")


@check("REDEEM-10", needs=["faults"], cases={name: NONSENSE[name] for name in EMPTY})
def without_a_token_in_the_answer_it_is_404_too(world: World, case: MerchantFault) -> None:
    """If the merchant's 200 at sign-in contained no token, redemption answers 404.

    If the gateway asks the merchant again during the redemption, it may answer 5xx, or 200 with a token that
    the merchant issued. After a sign-in at which the merchant issues a token, redemption works.
    """
    alone, agent = isolated_user(world, own=True), world.agents.new()
    alone.script(provisioning=case.scripted())
    proxy_token = alone.proxy_token()
    # VAULT-10 tests that such a sign-in gives a code.
    with values_of_choice():
        grant = alone.grant(agent)
    failure_oracle.wait_for_provisioning_fault(alone, case)
    before = failure_oracle.last_of(alone)

    answer = world.gateway.redeem(grant.access_token, proxy_token, grant.resource.indicator)
    asked_again = failure_oracle.last_of(alone) > before
    alone.script()

    _is_404_or_an_issued_token(alone, grant, answer, asked_again=asked_again)
    world.backend.require_redeemed(alone.grant(agent), proxy_token)


def _is_404_or_an_issued_token(
    alone: IsolatedUser, grant: Grant, answer: Exchange, *, asked_again: bool
) -> None:
    if answer.status == 200:
        expect.text(answer.member("access_token"), "access_token of a redemption with nothing to return")
        expect_owner(alone.world, answer, grant.user, grant.resource)
        return
    server_error = asked_again and (answer.status or 0) >= 500
    expect.that(
        answer.status == 404 or server_error,
        "redemption for a user for whom the merchant answered 200 without a token",
        expected="status 404",
        got=answer.outcome(),
        exchange=answer,
    )
