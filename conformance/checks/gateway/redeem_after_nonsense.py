"""Redemption for a user about whom the merchant answered at sign-in, and gave no token."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._token_owner import belongs
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
    """If the merchant's 200 at sign-in held no token, redemption answers 404.

    A gateway may ask the merchant again during the redemption: then it may answer 5xx, or 200 with a token
    that the merchant gave. After a sign-in at which the merchant gives a token, redemption works.
    """
    alone, agent = isolated_user(world), world.agents.new()
    alone.script(provisioning=case.scripted())
    proxy_token = alone.proxy_token()
    # That such a sign-in gives a code is VAULT-10's.
    with values_of_choice():
        grant = alone.grant(agent)
    failure_oracle.provisioning_met(alone, case)
    before = failure_oracle.last_of(alone)

    answer = world.gateway.redeem(grant.access_token, proxy_token, grant.resource.indicator)
    asked_again = failure_oracle.last_of(alone) > before
    alone.script()

    _holds_no_more_than_there_is(alone, grant, answer, asked_again=asked_again)
    world.backend.require_redeemed(alone.grant(agent), proxy_token)


def _holds_no_more_than_there_is(
    alone: IsolatedUser, grant: Grant, answer: Exchange, *, asked_again: bool
) -> None:
    if answer.status == 200:
        expect.text(answer.member("access_token"), "access_token of a redemption with nothing to return")
        belongs(alone.world, answer, grant.user, grant.resource)
        return
    in_trouble = asked_again and (answer.status or 0) >= 500
    expect.that(
        answer.status == 404 or in_trouble,
        "redemption for a user about whom the merchant answered 200 without a token",
        expected="status 404",
        got=answer.outcome(),
        exchange=answer,
    )
