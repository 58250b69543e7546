"""Redemption for a user for whom the merchant issued no token at sign-in, without a clear refusal."""

from __future__ import annotations

from dataclasses import dataclass

from gateproof.conformance.checks.gateway._normal_flow import succeeds
from gateproof.conformance.checks.gateway._token_owner import expect_owner
from gateproof.conformance.faults.merchant_answers import NONSENSE, TROUBLE, MerchantFault
from gateproof.conformance.kit.gateway import failure_oracle
from gateproof.conformance.kit.gateway.isolated_user import IsolatedUser, isolated_user
from gateproof.conformance.kit.gateway.merchant_recovery import recovery_from_now
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, values_of_choice
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret

EMPTY = ("html", "invalid-json", "wrong-shape", "no-token", "refusal-as-a-success")
FAILED = ("server-error", "gateway-timeout", "too-many-requests", "reset")


@check("REDEEM-10", needs=["faults"], cases={name: NONSENSE[name] for name in EMPTY})
def without_a_token_in_the_answer_it_is_404_too(world: World, case: MerchantFault) -> None:
    """If the merchant's 200 at sign-in contained no token, redemption answers 404.

    If the gateway asks the merchant again during the redemption, it may answer 5xx, or 200 with a token that
    the merchant issued. After a sign-in at which the merchant issues a token, redemption works.
    """
    redeemed = _signed_in_without_a_token(world, case)

    _is_404_or_an_issued_token(redeemed)
    alone = redeemed.alone
    world.backend.require_redeemed(alone.grant(redeemed.grant.agent), redeemed.proxy_token)


@check("REDEEM-10", needs=["faults"], cases={name: TROUBLE[name] for name in FAILED})
def failed_provisioning_is_404_too(world: World, case: MerchantFault) -> None:
    """If the merchant failed at sign-in, redemption answers 404, and works after the next sign-in.

    If the gateway asks the merchant again during the redemption, it may answer 5xx, or 200 with a token that
    the merchant issued. It may also answer 503 while it sends the merchant nothing because of the failure.
    """
    redeemed = _signed_in_without_a_token(world, case)
    recovery = recovery_from_now(redeemed.alone)

    _is_404_or_an_issued_token(redeemed, pauses=True)
    succeeds(
        lambda: world.backend.redeem_once_provisioned(
            redeemed.alone.grant(redeemed.grant.agent), redeemed.proxy_token
        ),
        "redemption after another sign-in, at which the merchant issued a token",
        recovery,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Redeemed:
    """The answer to a redemption after a sign-in at which the merchant issued no token."""

    alone: IsolatedUser
    grant: Grant
    proxy_token: Secret
    answer: Exchange
    # The gateway asked the merchant again during the redemption.
    asked_again: bool


def _signed_in_without_a_token(world: World, case: MerchantFault) -> _Redeemed:
    """Redeems once after such a sign-in; the merchant works again at the end."""
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
    return _Redeemed(
        alone=alone, grant=grant, proxy_token=proxy_token, answer=answer, asked_again=asked_again
    )


def _is_404_or_an_issued_token(redeemed: _Redeemed, *, pauses: bool = False) -> None:
    alone, grant, answer = redeemed.alone, redeemed.grant, redeemed.answer
    if answer.status == 200:
        expect.text(answer.member("access_token"), "access_token of a redemption with nothing to return")
        expect_owner(alone.world, answer, grant.user, grant.resource)
        return
    server_error = redeemed.asked_again and (answer.status or 0) >= 500
    paused = pauses and answer.status == 503
    expect.that(
        answer.status == 404 or server_error or paused,
        "redemption for a user for whom the merchant issued no token at sign-in",
        expected="status 404",
        got=answer.outcome(),
        exchange=answer,
    )
