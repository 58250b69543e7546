"""Expected answers of a gateway while its merchant fails, and after the merchant has recovered."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from gateproof.conformance.faults.merchant_answers import MerchantFault
from gateproof.conformance.kit.gateway.isolated_user import (
    IsolatedUser,
    expect_orders,
    let_expire,
    require_unexpired,
)
from gateproof.conformance.kit.gateway.merchant_recovery import recovery_from_now
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import LeftOut, count_fault, expect, require
from gateproof.conformance.suite.parties import Agent, Grant
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import PAGE_S, PROVISIONING_S, SIGN_IN_S
from gateproof.conformance.wire import backend as backend_wire
from gateproof.conformance.wire.exchange import Exchange, Request
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.merchant.records import JournalEntry

REFRESH = "refresh_token"
# One attempt and some retries with growing pauses: any gateway that limits its retries stays below this.
MOST_CALLS = 10
# Attempts that fail at once may be repeated for every address and many times; no rule limits them exactly. A
# gateway that makes more attempts than this has no limit.
MOST_TRIES = 250
# How often a backend retries when it is told to wait, and how long it waits each time.
TRIES, LONGEST_PAUSE_S = 3, 2.0


def longest_sign_in_s(world: World) -> float:
    """How long a failing merchant may delay a sign-in (VAULT-10), with the pages around it."""
    return world.gateway.wire.timeout_s + SIGN_IN_S + PAGE_S


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpiringToken:
    """A merchant token that has expired or will expire soon, and what is needed to redeem it.

    Journal entries of this user up to `since` are ignored.
    """

    alone: IsolatedUser
    agent: Agent
    grant: Grant
    proxy_token: Secret
    expired: str | None
    since: int

    def refreshes(self) -> list[JournalEntry]:
        """The gateway's refreshes since then."""
        return [entry for entry in self.alone.asked(REFRESH) if entry.ordinal > self.since]

    def request(self) -> Request:
        """The redemption request."""
        return backend_wire.redemption(
            self.alone.world.gateway.base_url,
            bearer=self.grant.access_token,
            proxy_token=self.proxy_token,
            resource=self.grant.resource.indicator,
        )

    def redeem_once(self) -> Exchange:
        """Sends one redemption and returns its answer, even if it asks to wait."""
        gateway = self.alone.world.gateway
        exchange = gateway.wire.send_once("redemption", self.request())
        token = exchange.member("access_token")
        if isinstance(token, str) and token:
            gateway.keyring.secret("merchant_access_token", token)
        return exchange

    def is_stale(self, answer: Exchange) -> bool:
        """True for a 200 with the expired token."""
        return answer.status == 200 and answer.member("access_token") == self.expired


def expiring_soon(alone: IsolatedUser, agent: Agent | None = None) -> ExpiringToken:
    """A merchant token that was redeemed once and expires at the next let_expire()."""
    alone.short_lived()
    agent = agent or alone.world.agents.new()
    grant, proxy_token = alone.grant(agent), alone.proxy_token()
    first = alone.world.backend.require_redeemed(grant, proxy_token, not_yet=(404, 410))
    token = require.text(first.member("access_token"), "access_token of the redemption")
    return ExpiringToken(
        alone=alone,
        agent=agent,
        grant=grant,
        proxy_token=proxy_token,
        expired=token,
        since=last_of(alone),
    )


def expire_under(faults: Sequence[tuple[ExpiringToken, MerchantFault]]) -> None:
    """Scripts these merchant faults and lets the tokens expire. An early refresh meets the fault, too."""
    for due, what in faults:
        due.alone.short_lived(
            refresh=what.scripted(),
            answers=what.tape(due.alone.world.gateway.wire.timeout_s),
            rotate_refresh_tokens=what.rotates,
        )
    let_expire(faults[0][0].alone.world)


def count_fault_of(due: ExpiringToken, what: MerchantFault) -> None:
    """Counts the refreshes that met the fault. LeftOut if the gateway made no refresh."""
    came = due.refreshes()
    if not came:
        raise LeftOut("the gateway did not use the refresh token when the merchant token was due")
    due.alone.world.worker_state.note_merchant_failure()
    count_fault(what.fault, sum(entry.outcome == what.outcome for entry in came))


def last_of(alone: IsolatedUser) -> int:
    """The ordinal of the last journal entry of this user."""
    return max((entry.ordinal for entry in alone.journal()), default=0)


def wait_for_provisioning_fault(alone: IsolatedUser, what: MerchantFault, after: int = 0) -> None:
    """Waits until the gateway's request for this user's token has met the fault."""
    worker_state = alone.world.worker_state
    deadline = time.monotonic() + (
        PROVISIONING_S if worker_state.separate_provisioning_grant is not False else 0
    )
    while not (came := [entry for entry in alone.journal() if entry.outcome and entry.ordinal > after]):
        if time.monotonic() > deadline:
            if worker_state.separate_provisioning_grant:
                raise LeftOut("the gateway sent its merchant no request: its circuit breaker may be open")
            worker_state.separate_provisioning_grant = False
            grants = {entry.grant or entry.endpoint for entry in alone.journal()}
            require.that(
                False,
                "provisioning at the fake merchant",
                expected="a jwt-bearer or token-exchange grant",
                got=", ".join(sorted(grants)) or "nothing",
            )
        wait_for(Cause.REQUEST, 0.1)
    worker_state.separate_provisioning_grant = True
    worker_state.note_merchant_failure()
    count_fault(what.fault, sum(entry.outcome == what.outcome for entry in came))


def redeem_during_fault(due: ExpiringToken) -> Exchange:
    """One redemption. If the gateway asks to wait before it has called its merchant, it is repeated."""
    for _ in range(TRIES - 1):
        answer = due.redeem_once()
        if due.refreshes() or not _asks_to_wait(answer):
            return answer
        wait_for(Cause.RECOVERY, LONGEST_PAUSE_S)
    return due.redeem_once()


def redeem_and_count_fault(due: ExpiringToken, what: MerchantFault) -> Exchange:
    """A redemption that met the fault: it was answered in time, with a limited number of refreshes."""
    answer = redeem_during_fault(due)
    ended = time.time()
    count_fault_of(due, what)
    require_unexpired(due.alone.world, due.grant, answer)
    expect_answered(answer, what.fault.does)
    took_s = answer.answer.elapsed_s if answer.answer is not None else 0.0
    calls = [entry for entry in due.refreshes() if ended - took_s <= entry.time <= ended]
    expect_few(len(calls), MOST_CALLS, "refreshes", answer, what.fault.does)
    return answer


def expect_few(number: int, most: int, of_what: str, answer: Exchange, does: str) -> None:
    """Expects that one redemption causes a limited number of these requests."""
    expect.that(
        number <= most,
        f"one redemption while the merchant {does}",
        expected=f"{most} {of_what} at most",
        got=f"{number}",
        exchange=answer,
    )


def expect_answered(answer: Exchange, does: str) -> None:
    """Expects an answer to the backend within the timeout of the target file."""
    expect.that(
        answer.answer is not None,
        f"redemption while the merchant {does}",
        expected="an answer",
        got=answer.outcome(),
        exchange=answer,
    )


def no_false_rejection(due: ExpiringToken, answer: Exchange, does: str) -> None:
    """Expects no 410, unless the merchant has rejected the refresh token."""
    expect.that(
        answer.status != 410 or any(map(_is_refusal, due.refreshes())),
        f"redemption while the merchant {does}",
        expected="no 410: the merchant has not rejected the refresh token",
        got=answer.outcome(),
        exchange=answer,
    )


def expect_not_expired(due: ExpiringToken, answer: Exchange, does: str) -> None:
    """Expects no expired token. Without a movable clock this is not checked: clocks may differ a little."""
    if due.alone.world.clock.can_move():
        expect.that(
            not due.is_stale(answer),
            f"redemption while the merchant {does}",
            expected="no merchant token that has expired",
            got="the expired one",
            exchange=answer,
        )


def redeem_after_fault(due: ExpiringToken) -> Exchange:
    """The redemption after the merchant has recovered, without any action of the user."""
    world, recovery = due.alone.world, recovery_from_now(due.alone)
    while True:
        answer = world.backend.redeem_once_provisioned(due.grant, due.proxy_token)
        over = answer.status in {200, 410} and not due.is_stale(answer)
        if over or recovery.is_over(answer):
            require_unexpired(world, due.grant, answer)
            return answer
        wait_for(Cause.RECOVERY, 0.5)


def redeems_again(due: ExpiringToken) -> None:
    """Expects that redemption gives a working merchant token again without a new sign-in."""
    answer = redeem_after_fault(due)
    _expect_recovered(answer, 200)
    expect_orders(due.alone, expect.text(answer.member("access_token"), "access_token of the redemption"))


def redeem_or_require_410(due: ExpiringToken) -> Exchange:
    """Expects that redemption gives a merchant token again, or answers 410."""
    answer = redeem_after_fault(due)
    _expect_recovered(answer, 200, 410)
    if answer.status == 200:
        expect.text(answer.member("access_token"), "access_token of the redemption")
    return answer


def redeem_after_new_authorization(due: ExpiringToken) -> Exchange:
    """The answer to a redemption after the user has authorized again."""
    renewed = due.alone.grant(due.agent)
    return due.alone.world.backend.redeem_once_provisioned(renewed, due.proxy_token, not_yet=(404, 410))


def _expect_recovered(answer: Exchange, *statuses: int) -> None:
    expect.that(
        answer.status in statuses,
        "redemption after the merchant has recovered, without a new sign-in",
        expected=f"status {' or '.join(map(str, statuses))}",
        got=answer.outcome(),
        exchange=answer,
    )


def _is_refusal(entry: JournalEntry) -> bool:
    return entry.outcome == "reject" or (entry.error or "").startswith("invalid_grant")


def _asks_to_wait(answer: Exchange) -> bool:
    return answer.status == 429 or (answer.status == 503 and answer.header("Retry-After") is not None)
