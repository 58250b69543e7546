"""A merchant in trouble: it has rejected nothing, and it costs the user the merchant token at most."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from gateproof.conformance.faults.merchant_answers import (
    ENDLESS,
    ROTATED,
    SIGN_INS,
    SILENCE,
    TROUBLE,
    MerchantFault,
)
from gateproof.conformance.kit.gateway import failure_oracle
from gateproof.conformance.kit.gateway.failure_oracle import Due
from gateproof.conformance.kit.gateway.gateway import Visit
from gateproof.conformance.kit.gateway.isolated_user import IsolatedUser, isolated_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.suite.parties import Attempt
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.stopwatch import Stopwatch

FAULTS = ["faults"]
# How long provisioning may hold up a sign-in, and what its pages may take beside.
LONGEST_S, PAGES_S = 30.0, 5.0
# Trouble that goes on is still none: some count to three, and some to five. These two speak for all of it.
LASTING, TIMES_MORE = ("server-error", "reset"), 5


@check("VAULT-06", needs=FAULTS, alone=True, cases=TROUBLE)
def trouble_is_no_rejection(world: World, case: MerchantFault) -> None:
    """A merchant that fails to answer the refresh has not rejected it: no 410, and afterwards it works.

    It may fail many times in a row, and has rejected nothing even then.
    """
    due = failure_oracle.soon_due(isolated_user(world))
    failure_oracle.expire_under([(due, case)])
    answers = [failure_oracle.meets(due, case)]
    if case.fault.name in LASTING:
        answers += [due.redeem_once() for _ in range(TIMES_MORE)]

    _trouble(due, case, *answers)


@check("VAULT-06", needs=FAULTS, alone=True)
def silence_is_no_rejection(world: World) -> None:
    """Neither is one that keeps its callers waiting; three users wait for it side by side."""
    agent = world.agents.new()
    dues = [(failure_oracle.soon_due(isolated_user(world), agent), what) for what in SILENCE.values()]
    failure_oracle.expire_under(dues)
    with ThreadPoolExecutor(len(dues)) as backends:
        waiting = [backends.submit(due.redeem_once) for due, _ in dues]
        answers = [each.result() for each in waiting]

    for (due, what), answer in zip(dues, answers, strict=True):
        failure_oracle.struck(due, what)
        failure_oracle.answered(answer, what.fault.does)
        failure_oracle.few(
            len(due.refreshes()), failure_oracle.MOST_TRIES, "refreshes", answer, what.fault.does
        )
        (_rotated if what.rotates else _trouble)(due, what, answer)


@check("VAULT-06", needs=FAULTS, alone=True, cases=ROTATED)
def trouble_after_a_rotation_is_no_rejection(world: World, case: MerchantFault) -> None:
    """A merchant that rotates and then fails costs a new authorization at most, once it has said no."""
    due = failure_oracle.soon_due(isolated_user(world))
    failure_oracle.expire_under([(due, case)])

    _rotated(due, case, failure_oracle.meets(due, case))


@check("VAULT-10", needs=FAULTS, cases=SIGN_INS)
def sign_in_goes_on_without_the_merchant_token(world: World, case: MerchantFault) -> None:
    """Whatever the merchant does in place of issuing a token, the user signs in and a code arrives."""
    signing_in = _signing_in(world, case)
    visit, took_s = _visited(signing_in)

    _signed_in(signing_in, visit, took_s)


@check("VAULT-10", needs=FAULTS)
def sign_in_does_not_wait_for_ever(world: World) -> None:
    """A merchant that never comes to an end holds the sign-in up for thirty seconds at most.

    Two users sign in at the same time, to wait once for both. A gateway that serves one of them after the
    other is within its rights: whoever had to wait too long is asked to sign in again, alone.
    """
    cases = [_signing_in(world, what) for what in ENDLESS.values()]
    visits = _side_by_side(cases) if world.gateway.new_browser is not None else map(_visited, cases)

    for signing_in, (visit, took_s) in zip(cases, visits, strict=True):
        if visit.parameter("code") is None or took_s > LONGEST_S + PAGES_S:
            again = _signing_in(world, signing_in.what)
            _signed_in(again, *_visited(again))
        else:
            _signed_in(signing_in, visit, took_s)


def _trouble(due: Due, what: MerchantFault, *answers: Exchange) -> None:
    for answer in answers:
        failure_oracle.no_false_rejection(due, answer, what.fault.does)
        failure_oracle.nothing_expired(due, answer, what.fault.does)
    due.alone.short_lived()
    failure_oracle.redeems_again(due)


def _rotated(due: Due, what: MerchantFault, answer: Exchange) -> None:
    failure_oracle.no_false_rejection(due, answer, what.fault.does)
    failure_oracle.nothing_expired(due, answer, what.fault.does)
    due.alone.short_lived()
    after = failure_oracle.redeems_again_or_says_why(due)
    failure_oracle.no_false_rejection(due, after, what.fault.does)
    if after.status == 410:
        # That this mends it is another rule's, and that much has to be so for the 410 to be an honest one.
        require(failure_oracle.mended_by_the_user(due)).status(200)


@dataclass(frozen=True, kw_only=True)
class _SigningIn:
    """A user who is about to sign in where the merchant fails to issue a token."""

    alone: IsolatedUser
    what: MerchantFault
    attempt: Attempt


def _signing_in(world: World, what: MerchantFault) -> _SigningIn:
    # With a merchant that is well, a sign-in ends with tokens.
    world.grant()
    alone = isolated_user(world)
    attempt = world.attempt(world.agents.new(), resource=alone.resource, user=alone.user)
    alone.script(provisioning=what.scripted(), rotate_refresh_tokens=what.rotates)
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
    """The sign-in met the fault, and ended as it would have without it."""
    alone, what = signing_in.alone, signing_in.what
    world, does = alone.world, what.fault.does
    tokens: Exchange | None = None
    code = visit.parameter("code")
    if code is not None:
        tokens = world.gateway.exchange(world.authorization_of(signing_in.attempt, code))
    failure_oracle.provisioning_met(alone, what)
    expect.that(
        code is not None,
        f"sign-in while the merchant {does}",
        expected="a code at the redirect URI",
        got=visit.outcome(),
    )
    expect.that(
        took_s <= LONGEST_S + PAGES_S,
        f"sign-in while the merchant {does}",
        expected=f"{LONGEST_S:.0f} s at most",
        got=f"{took_s:.0f} s",
    )
    if tokens is not None:
        expect(tokens).status(200)
