"""A merchant failure must not be treated as a rejection, and must not prevent a sign-in."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from gateproof.conformance.faults.merchant_answers import (
    BEYOND_S,
    ENDLESS,
    ROTATED,
    SIGN_INS,
    SILENCE,
    TROUBLE,
    MerchantFault,
)
from gateproof.conformance.kit.gateway import failure_oracle
from gateproof.conformance.kit.gateway.failure_oracle import ExpiringToken
from gateproof.conformance.kit.gateway.gateway import Visit
from gateproof.conformance.kit.gateway.isolated_user import IsolatedUser, isolated_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.suite.parties import Attempt
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.stopwatch import Stopwatch
from gateproof.fakes.merchant.script import LONGEST_WAIT_S

FAULTS = ["faults"]
# A repeated failure is still no rejection, although some gateways count up to three or five. Only these two
# faults are repeated.
LASTING, TIMES_MORE = ("server-error", "reset"), 5


@check("VAULT-06", needs=FAULTS, alone=True, cases=TROUBLE)
def trouble_is_no_rejection(world: World, case: MerchantFault) -> None:
    """A merchant failure during the refresh causes no 410, and redemption works afterwards.

    Many failures in a row are no rejection either.
    """
    due = failure_oracle.expiring_soon(isolated_user(world, own=True))
    failure_oracle.expire_under([(due, case)])
    answers = [failure_oracle.redeem_and_count_fault(due, case)]
    if case.fault.name in LASTING:
        answers += [due.redeem_once() for _ in range(TIMES_MORE)]

    _no_rejection(due, case, *answers)


@check("VAULT-06", needs=FAULTS, alone=True, waits_s=4)
def silence_is_no_rejection(world: World) -> None:
    """A merchant that does not answer the refresh causes no 410; three users wait concurrently."""
    dues = [(failure_oracle.expiring_soon(isolated_user(world, own=True)), what) for what in SILENCE.values()]
    failure_oracle.expire_under(dues)
    with ThreadPoolExecutor(len(dues)) as backends:
        waiting = [backends.submit(due.redeem_once) for due, _ in dues]
        answers = [each.result() for each in waiting]

    for (due, what), answer in zip(dues, answers, strict=True):
        failure_oracle.count_fault_of(due, what)
        failure_oracle.expect_answered(answer, what.fault.does)
        failure_oracle.expect_few(
            len(due.refreshes()), failure_oracle.MOST_TRIES, "refreshes", answer, what.fault.does
        )
        (_rotated if what.rotates else _no_rejection)(due, what, answer)


@check("VAULT-06", needs=FAULTS, alone=True, cases=ROTATED)
def trouble_after_a_rotation_is_no_rejection(world: World, case: MerchantFault) -> None:
    """If the merchant rotates the refresh token and fails, no 410 comes before it rejects the old one."""
    due = failure_oracle.expiring_soon(isolated_user(world, own=True))
    failure_oracle.expire_under([(due, case)])

    _rotated(due, case, failure_oracle.redeem_and_count_fault(due, case))


@check("VAULT-10", needs=FAULTS, cases=SIGN_INS)
def sign_in_goes_on_without_the_merchant_token(world: World, case: MerchantFault) -> None:
    """At sign-in, the user gets a code whatever the merchant answers in place of a token."""
    signing_in = _signing_in(world, case)
    visit, took_s = _visited(signing_in)

    _signed_in(signing_in, visit, took_s)


@check("VAULT-10", needs=FAULTS, waits_s=4)
def sign_in_does_not_wait_for_ever(world: World) -> None:
    """A merchant that never answers delays the sign-in by a limited time.

    Two users sign in concurrently, so that the check waits once for both. A gateway may serve them one after
    the other: a user who waited too long signs in again, alone.
    """
    cases = [_signing_in(world, what) for what in ENDLESS.values()]
    visits = _side_by_side(cases) if world.gateway.new_browser is not None else map(_visited, cases)

    for signing_in, (visit, took_s) in zip(cases, visits, strict=True):
        if visit.parameter("code") is None or took_s > failure_oracle.longest_sign_in_s(world):
            again = _signing_in(world, signing_in.what)
            _signed_in(again, *_visited(again))
        else:
            _signed_in(signing_in, visit, took_s)


def _no_rejection(due: ExpiringToken, what: MerchantFault, *answers: Exchange) -> None:
    for answer in answers:
        failure_oracle.no_false_rejection(due, answer, what.fault.does)
        failure_oracle.expect_not_expired(due, answer, what.fault.does)
    due.alone.short_lived()
    failure_oracle.redeems_again(due)


def _rotated(due: ExpiringToken, what: MerchantFault, answer: Exchange) -> None:
    failure_oracle.no_false_rejection(due, answer, what.fault.does)
    failure_oracle.expect_not_expired(due, answer, what.fault.does)
    due.alone.short_lived()
    after = failure_oracle.redeem_or_require_410(due)
    failure_oracle.no_false_rejection(due, after, what.fault.does)
    if after.status == 410:
        # Another rule tests that a new authorization repairs this; without it, the 410 would not be
        # justified.
        require(failure_oracle.redeem_after_new_authorization(due)).status(200)


@dataclass(frozen=True, kw_only=True)
class _SigningIn:
    """A user who is about to sign in while the merchant fails to issue a token."""

    alone: IsolatedUser
    what: MerchantFault
    attempt: Attempt


def _signing_in(world: World, what: MerchantFault) -> _SigningIn:
    # Positive twin: without the fault, a sign-in ends with tokens.
    world.grant()
    alone = isolated_user(world, own=True)
    attempt = world.attempt(world.agents.new(), resource=alone.resource, user=alone.user)
    longest_s = min(failure_oracle.longest_sign_in_s(world) + BEYOND_S, LONGEST_WAIT_S)
    lasts = {"seconds": longest_s} if what in ENDLESS.values() else {}
    alone.script(provisioning=what.scripted(**lasts), rotate_refresh_tokens=what.rotates)
    return _SigningIn(alone=alone, what=what, attempt=attempt)


def _visited(signing_in: _SigningIn) -> tuple[Visit, float]:
    gateway = signing_in.alone.world.gateway
    watch = Stopwatch(gateway.wire)
    visit = gateway.visit(signing_in.attempt, wherever=True)
    return visit, watch.so_far_s()


def _side_by_side(cases: Sequence[_SigningIn]) -> list[tuple[Visit, float]]:
    with ThreadPoolExecutor(len(cases)) as users:
        return list(users.map(_visited, cases))


def _signed_in(signing_in: _SigningIn, visit: Visit, took_s: float) -> None:
    """Expects that the sign-in met the fault and ended as it would without it."""
    alone, what = signing_in.alone, signing_in.what
    world, does = alone.world, what.fault.does
    tokens: Exchange | None = None
    code = visit.parameter("code")
    if code is not None:
        tokens = world.gateway.exchange(world.authorization_of(signing_in.attempt, code))
    failure_oracle.wait_for_provisioning_fault(alone, what)
    expect.that(
        code is not None,
        f"sign-in while the merchant {does}",
        expected="a code at the redirect URI",
        got=visit.outcome(),
    )
    expect.that(
        took_s <= failure_oracle.longest_sign_in_s(world),
        f"sign-in while the merchant {does}",
        expected=f"{failure_oracle.longest_sign_in_s(world):.0f} s at most",
        got=f"{took_s:.0f} s",
    )
    if tokens is not None:
        expect(tokens).status(200)
