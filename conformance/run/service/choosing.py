"""Chooses the next check of a service in one process, so that what a check waits for passes while others run.

Many services fetch a key set every half a minute at most, so a check that adds a key is chosen half a minute
after the last fetch, if there is anything else to do until then. And a Proxy token grows old while checks run
that leave it alone. The order depends on time, but no verdict does: each check waits for what it needs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Generic, TypeVar

from gateproof.conformance.kit.service.world import FIRST_PROXY_TOKENS_S
from gateproof.conformance.suite.check import Check
from gateproof.conformance.suite.needs import touches_whole_target
from gateproof.conformance.suite.time_limits import SELDOM_S
from gateproof.conformance.suite.turn import Turn
from gateproof.fakes.gateway.gateway import ScriptedGateway
from gateproof.fakes.gateway.script import Endpoint

T = TypeVar("T")

# The checks of these families leave the Proxy token as it is.
_LEAVE_THE_PROXY_TOKEN = frozenset({"chal", "meta"})
# How long a check takes that adds a key, beyond its wait.
_A_WHILE_S = 8.0
# Many services renew a token ten seconds before its end. One that does so earlier shows that by a renewal.
_USUAL_RENEWAL_S = FIRST_PROXY_TOKENS_S - 12.0
# Requests for Proxy tokens so close together are those of several processes.
_AT_ONCE_S = 5.0
_MOMENT_S = 0.5


class Choosing(Generic[T]):
    """The checks that are left, by what they wait for; those that read the log come last."""

    def __init__(
        self,
        items: Sequence[T],
        check_of: Callable[[T], Check],
        gateway: ScriptedGateway,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._gateway = gateway
        self._now = now

        def those(suitable: Callable[[Check], bool]) -> list[T]:
            return [item for item in items if suitable(check_of(item))]

        def any_turn(check: Check) -> bool:
            return check.turn is Turn.ANY and not touches_whole_target(check)

        self._first = those(lambda check: check.turn is Turn.FIRST_CALLS)
        self._ends = those(lambda check: check.turn is Turn.END_OF_A_PROXY_TOKEN)
        self._calm = those(lambda check: any_turn(check) and check.family in _LEAVE_THE_PROXY_TOKEN)
        self._others = those(lambda check: any_turn(check) and check.family not in _LEAVE_THE_PROXY_TOKEN)
        self._keys = those(lambda check: check.turn is Turn.NEW_KEY and "faults" not in check.needs)
        self._failing_keys = those(lambda check: check.turn is Turn.NEW_KEY and "faults" in check.needs)
        self._last = those(lambda check: check.turn is Turn.ANY and touches_whole_target(check))

    def next(self) -> T | None:
        """The next check, which is then no longer left; None after the last one."""
        found = self._first or self._before_the_end() or self._after_the_end() or self._last
        return found.pop(0) if found else None

    def _before_the_end(self) -> list[T]:
        """What to choose from while a Proxy token grows old, and then the next check of its end.

        A service that replaces refused tokens gets no second one with a short lifetime to wait for.
        """
        if not self._ends:
            return []
        left_s, wait_s = self._renewed_in_s(), self._fetches_in_s()
        if self._keys and (not wait_s or not self._calm) and wait_s + _A_WHILE_S <= left_s:
            return self._keys
        if self._calm and left_s > 0:
            return self._calm
        return self._ends

    def _after_the_end(self) -> list[T]:
        keys, others = self._keys or self._failing_keys, self._calm or self._others
        return keys if keys and (not others or not self._fetches_in_s()) else others

    def _fetches_in_s(self) -> float:
        """In how many seconds a service that fetches the key set seldom may fetch it again."""
        asked = self._gateway.journal.since(0, Endpoint.CORE_KEYS)
        last = asked[-1].at_s if asked else float("-inf")
        return max(0.0, last + SELDOM_S + _MOMENT_S - self._now())

    def _renewed_in_s(self) -> float:
        """In how many seconds the service may request the next Proxy token; one that it renews lives on."""
        begins = [
            token.announced_expiry - token.life_s
            for token in self._gateway.proxy_tokens
            if token.life_s <= FIRST_PROXY_TOKENS_S
        ]
        if not begins:
            return float("inf")
        gaps = [later - earlier for earlier, later in pairwise(begins) if later - earlier > _AT_ONCE_S]
        return begins[-1] + min([_USUAL_RENEWAL_S, *gaps]) - self._now()
