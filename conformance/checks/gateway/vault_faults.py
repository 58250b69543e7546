"""A merchant in trouble: it has rejected nothing, and it costs the user the merchant token at most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from conformance.check import check
from conformance.claims import LeftOut, expect, fired, require
from conformance.faults import oracle
from conformance.faults.merchant_answers import (
    DOORS,
    ENDLESS,
    ODD,
    ROTATED,
    SILENCE,
    TROUBLE,
    DoorFault,
    MerchantFault,
)
from conformance.faults.oracle import Due
from conformance.faults.placing import elsewhere, placeable
from conformance.gateway import Visit
from conformance.parties import Attempt
from conformance.seclusion import Seclusion, let_expire, secluded
from conformance.wire.exchange import Exchange
from conformance.wire.stopwatch import Stopwatch
from conformance.world import World

FAULTS = ["faults"]
# How long provisioning may hold up a sign-in, and what its pages may take beside.
LONGEST_S, PAGES_S = 30.0, 5.0
SIGN_INS = {**TROUBLE, **ROTATED, **ODD}
# Trouble that goes on is still none: some count to three, and some to five. These two speak for all of it.
LASTING, TIMES_MORE = ("server-error", "reset"), 5


@check("VAULT-06", needs=FAULTS, alone=True, cases=TROUBLE)
def trouble_is_no_rejection(world: World, case: MerchantFault) -> None:
    """A merchant that fails to answer the refresh has not rejected it: no 410, and afterwards it works.

    It may fail many times in a row, and has rejected nothing even then.
    """
    due = oracle.soon_due(secluded(world))
    oracle.expire_under([(due, case)])
    answers = [oracle.meets(due, case)]
    if case.fault.name in LASTING:
        answers += [due.redeem_once() for _ in range(TIMES_MORE)]

    _trouble(due, case, *answers)


@check("VAULT-06", needs=FAULTS, alone=True)
def silence_is_no_rejection(world: World) -> None:
    """Neither is one that keeps its callers waiting; three users wait for it side by side."""
    agent = world.agent()
    dues = [(oracle.soon_due(secluded(world), agent), what) for what in SILENCE.values()]
    oracle.expire_under(dues)
    with ThreadPoolExecutor(len(dues)) as backends:
        waiting = [backends.submit(due.redeem_once) for due, _ in dues]
        answers = [each.result() for each in waiting]

    for (due, what), answer in zip(dues, answers, strict=True):
        oracle.struck(due, what)
        oracle.answered(answer, what.fault.does)
        (_rotated if what.rotates else _trouble)(due, what, answer)


@check("VAULT-06", needs=FAULTS, alone=True, cases=ROTATED)
def trouble_after_a_rotation_is_no_rejection(world: World, case: MerchantFault) -> None:
    """A merchant that rotates and then fails costs a new authorization at most, once it has said no."""
    due = oracle.soon_due(secluded(world))
    oracle.expire_under([(due, case)])

    _rotated(due, case, oracle.meets(due, case))


@check("VAULT-06", needs=[*FAULTS, "control:create_resource"], alone=True, cases=DOORS)
def failed_connection_is_no_rejection(world: World, case: DoorFault) -> None:
    """A merchant that cannot be reached, or does not prove who it is, has not rejected the refresh."""
    with _behind_a_door(world, case) as (alone, door):
        due = oracle.soon_due(alone)
        if not alone.merchant.show(door, case.face):
            raise LeftOut("the gateway asks at another address than the token endpoint that it was told of")
        let_expire(world)

        answer = due.redeem_once()
        _struck(due, case, answer, alone.merchant.show(door, "open"))
        oracle.answered(answer, case.fault.does)
        oracle.no_false_rejection(due, answer, case.fault.does)
        oracle.nothing_expired(due, answer, case.fault.does)
        oracle.redeems_again(due)


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
        oracle.no_false_rejection(due, answer, what.fault.does)
        oracle.nothing_expired(due, answer, what.fault.does)
    due.alone.short_lived()
    oracle.redeems_again(due)


def _rotated(due: Due, what: MerchantFault, answer: Exchange) -> None:
    oracle.no_false_rejection(due, answer, what.fault.does)
    oracle.nothing_expired(due, answer, what.fault.does)
    due.alone.short_lived()
    after = oracle.redeems_again_or_says_why(due)
    oracle.no_false_rejection(due, after, what.fault.does)
    if after.status == 410:
        # That this mends it is another rule's, and that much has to be so for the 410 to be an honest one.
        require(oracle.mended_by_the_user(due)).status(200)


@contextmanager
def _behind_a_door(world: World, case: DoorFault) -> Iterator[tuple[Seclusion, str]]:
    """A Resource that finds its merchant's token endpoint at an address of its own."""
    alone = placeable(world)
    if case.over_tls and urlsplit(world.merchant_api or "").scheme != "https":
        raise LeftOut("the merchant is reached over plain HTTP, like the target")
    door = alone.merchant.open_door()
    try:
        yield elsewhere(alone, door), door
    finally:
        world.standing.note_trouble()
        alone.merchant.close_door(door)


def _struck(due: Due, case: DoorFault, answer: Exchange, visits: int) -> None:
    """Counts who came. Nobody can at a door that is shut: but whoever could refresh has not met it."""
    refreshed = bool(due.refreshes())
    if visits and case.over_tls and any(entry.status == 200 for entry in due.refreshes()):
        raise LeftOut("the gateway went past that certificate, so there was no trouble to get over")
    if case.over_tls and not visits and not refreshed:
        raise LeftOut("the gateway did not come to the token endpoint when the merchant token was due")
    if not case.over_tls and answer.status == 200 and not refreshed:
        raise LeftOut("the gateway answered from what it had when the merchant token was due")
    fired(case.fault, visits if case.over_tls else int(not refreshed))


@dataclass(frozen=True, kw_only=True)
class _SigningIn:
    """A user who is about to sign in where the merchant fails to issue a token."""

    alone: Seclusion
    what: MerchantFault
    attempt: Attempt


def _signing_in(world: World, what: MerchantFault) -> _SigningIn:
    # With a merchant that is well, a sign-in ends with tokens.
    world.grant()
    alone = secluded(world)
    attempt = world.attempt(world.agent(), resource=alone.resource, user=alone.user)
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
        tokens = world.gateway.exchange(world.authorized(signing_in.attempt, code))
    oracle.provisioning_met(alone, what)
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
