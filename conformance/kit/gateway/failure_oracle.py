"""What a gateway owes its callers while its merchant fails, and once the merchant is itself again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from gateproof.conformance.faults.merchant_answers import MerchantFault
from gateproof.conformance.kit.gateway.isolated_user import (
    PROVISIONED_S,
    IsolatedUser,
    let_expire,
    still_good,
    works,
)
from gateproof.conformance.kit.gateway.merchant_recovery import mended_now
from gateproof.conformance.suite.claims import LeftOut, count_fault, expect, require
from gateproof.conformance.suite.parties import Agent, Grant
from gateproof.conformance.wire import backend as backend_wire
from gateproof.conformance.wire.exchange import Exchange, Request
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.merchant.records import JournalEntry

REFRESH = "refresh_token"
# One try and some more with growing pauses: whoever counts its tries at all stays below this.
MOST_CALLS = 10
# What comes to nothing at once may be tried at every address, and many times before a caller is given up;
# no sentence bounds that. Beyond this, nobody has set a bound.
MOST_TRIES = 250
# So often a backend asks that is told to come again, and so long it waits each time.
TURNS, LONGEST_PAUSE_S = 3, 2.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Due:
    """A merchant token that is expired, or soon will be, with what it takes to redeem it.

    What the merchant received of the user up to `since` is of no interest any more.
    """

    alone: IsolatedUser
    agent: Agent
    grant: Grant
    proxy_token: Secret
    expired: str | None
    since: int

    def refreshes(self) -> list[JournalEntry]:
        """What the gateway has refreshed since then."""
        return [entry for entry in self.alone.asked(REFRESH) if entry.ordinal > self.since]

    def request(self) -> Request:
        """The redemption of it."""
        return backend_wire.redemption(
            self.alone.world.gateway.base_url,
            bearer=self.grant.access_token,
            proxy_token=self.proxy_token,
            resource=self.grant.resource.indicator,
        )

    def redeem_once(self) -> Exchange:
        """One redemption whose answer is taken as it is, also where it asks to wait."""
        gateway = self.alone.world.gateway
        exchange = gateway.wire.send_once("redemption", self.request())
        token = exchange.member("access_token")
        if isinstance(token, str) and token:
            gateway.keyring.secret("merchant_access_token", token)
        return exchange

    def is_stale(self, answer: Exchange) -> bool:
        """True for a 200 with the very token that has expired."""
        return answer.status == 200 and answer.member("access_token") == self.expired


def soon_due(alone: IsolatedUser, agent: Agent | None = None) -> Due:
    """A merchant token that was redeemed once and is over at the next expiry."""
    alone.short_lived()
    agent = agent or alone.world.agents.new()
    grant, proxy_token = alone.grant(agent), alone.proxy_token()
    first = alone.world.backend.require_redeemed(grant, proxy_token, not_yet=(404, 410))
    token = require.text(first.member("access_token"), "access_token of the redemption")
    return Due(
        alone=alone,
        agent=agent,
        grant=grant,
        proxy_token=proxy_token,
        expired=token,
        since=last_of(alone),
    )


def expire_under(faults: Sequence[tuple[Due, MerchantFault]]) -> None:
    """The merchant fails each from now on, and the tokens expire: also a refresh ahead of time meets that."""
    for due, what in faults:
        due.alone.short_lived(refresh=what.scripted(), rotate_refresh_tokens=what.rotates)
    let_expire(faults[0][0].alone.world)


def struck(due: Due, what: MerchantFault) -> None:
    """Counts the refreshes that met the fault; a gateway that made none has a way of its own."""
    came = due.refreshes()
    if not came:
        raise LeftOut("the gateway did not use the refresh token when the merchant token was due")
    due.alone.world.standing.note_trouble()
    count_fault(what.fault, sum(entry.outcome == what.outcome for entry in came))


def last_of(alone: IsolatedUser) -> int:
    """Where the journal of this user ends so far."""
    return max((entry.ordinal for entry in alone.journal()), default=0)


def provisioning_met(alone: IsolatedUser, what: MerchantFault, after: int = 0) -> None:
    """The gateway asked for this user's token, maybe a moment later, and the fault is what it met."""
    standing = alone.world.standing
    deadline = time.monotonic() + (PROVISIONED_S if standing.provisions_apart is not False else 0)
    while not (came := [entry for entry in alone.journal() if entry.outcome and entry.ordinal > after]):
        if time.monotonic() > deadline:
            if standing.provisions_apart:
                raise LeftOut(
                    "the gateway asked its merchant for nothing: it may leave it in peace for a while"
                )
            standing.provisions_apart = False
            grants = {entry.grant or entry.endpoint for entry in alone.journal()}
            require.that(
                False,
                "provisioning at the fake merchant",
                expected="a jwt-bearer or token-exchange grant",
                got=", ".join(sorted(grants)) or "nothing",
            )
        time.sleep(0.1)
    standing.provisions_apart = True
    standing.note_trouble()
    count_fault(what.fault, sum(entry.outcome == what.outcome for entry in came))


def redeem_under_a_fault(due: Due) -> Exchange:
    """One redemption; whoever is told to come again, before the gateway has asked its merchant, does so."""
    for _ in range(TURNS - 1):
        answer = due.redeem_once()
        if due.refreshes() or not _asks_to_wait(answer):
            return answer
        time.sleep(LONGEST_PAUSE_S)
    return due.redeem_once()


def meets(due: Due, what: MerchantFault) -> Exchange:
    """A redemption that met the fault: answered in time, and with few calls to the merchant."""
    answer = redeem_under_a_fault(due)
    ended = time.time()
    struck(due, what)
    still_good(due.alone.world, due.grant, answer)
    answered(answer, what.fault.does)
    took_s = answer.answer.elapsed_s if answer.answer is not None else 0.0
    calls = [entry for entry in due.refreshes() if ended - took_s <= entry.time <= ended]
    few(len(calls), MOST_CALLS, "refreshes", answer, what.fault.does)
    return answer


def few(number: int, most: int, of_what: str, answer: Exchange, does: str) -> None:
    """One redemption costs the merchant a bounded number of these."""
    expect.that(
        number <= most,
        f"one redemption while the merchant {does}",
        expected=f"{most} {of_what} at most",
        got=f"{number}",
        exchange=answer,
    )


def answered(answer: Exchange, does: str) -> None:
    """The backend got an answer, in the time that the target file gives the target."""
    expect.that(
        answer.answer is not None,
        f"redemption while the merchant {does}",
        expected="an answer",
        got=answer.outcome(),
        exchange=answer,
    )


def no_false_rejection(due: Due, answer: Exchange, does: str) -> None:
    """Nobody is told to authorize again, unless the merchant has refused the refresh token."""
    expect.that(
        answer.status != 410 or any(map(_is_refusal, due.refreshes())),
        f"redemption while the merchant {does}",
        expected="no 410: the merchant has not rejected the refresh token",
        got=answer.outcome(),
        exchange=answer,
    )


def nothing_expired(due: Due, answer: Exchange, does: str) -> None:
    """What is handed out meanwhile is still valid; where clocks differ by a moment, nobody can tell."""
    if due.alone.world.clock.can_move():
        expect.that(
            not due.is_stale(answer),
            f"redemption while the merchant {does}",
            expected="no merchant token that has expired",
            got="the expired one",
            exchange=answer,
        )


def mended(due: Due) -> Exchange:
    """The redemption once the merchant is itself again, for which the user did nothing."""
    world, recovery = due.alone.world, mended_now(due.alone)
    while True:
        answer = world.backend.redeem_once_provisioned(due.grant, due.proxy_token)
        over = answer.status in {200, 410} and not due.is_stale(answer)
        if over or recovery.is_over(answer):
            still_good(world, due.grant, answer)
            return answer
        time.sleep(0.5)


def redeems_again(due: Due) -> None:
    """Redemption gives a merchant token that works, and nobody had to sign in."""
    answer = mended(due)
    _back(answer, 200)
    works(due.alone, expect.text(answer.member("access_token"), "access_token of the redemption"))


def redeems_again_or_says_why(due: Due) -> Exchange:
    """Redemption gives a merchant token again, or answers 410."""
    answer = mended(due)
    _back(answer, 200, 410)
    if answer.status == 200:
        expect.text(answer.member("access_token"), "access_token of the redemption")
    return answer


def mended_by_the_user(due: Due) -> Exchange:
    """What redemption answers when the user has authorized anew."""
    renewed = due.alone.grant(due.agent)
    return due.alone.world.backend.redeem_once_provisioned(renewed, due.proxy_token, not_yet=(404, 410))


def _back(answer: Exchange, *statuses: int) -> None:
    expect.that(
        answer.status in statuses,
        "redemption once the merchant is itself again, for which the user did nothing",
        expected=f"status {' or '.join(map(str, statuses))}",
        got=answer.outcome(),
        exchange=answer,
    )


def _is_refusal(entry: JournalEntry) -> bool:
    return entry.outcome == "reject" or (entry.error or "").startswith("invalid_grant")


def _asks_to_wait(answer: Exchange) -> bool:
    return answer.status == 429 or (answer.status == 503 and answer.header("Retry-After") is not None)
