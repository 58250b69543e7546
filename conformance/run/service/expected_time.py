"""How long a run against a service is expected to take, from what is known before its first check."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gateproof.conformance.kit.service.world import FIRST_PROXY_TOKENS_S
from gateproof.conformance.suite.check import Check
from gateproof.conformance.suite.time_limits import SELDOM_S
from gateproof.conformance.suite.turn import Turn
from gateproof.fakes.gateway.gateway import PROXY_TOKEN_GRACE_S

# What a check takes that waits for nothing, and how many requests it sends: means over all checks.
_CHECK_S, _REQUESTS = 0.2, 5
# What it takes to start the service and to prepare a worker.
_START_S, _WORKER_S = 3.0, 1.5
# Of the cases that add a key, so many wait; the others share a wait, or are spared it by what was learned.
_WAITING_SHARE = 0.6
# So many of those waits pass while the end of the first Proxy token is waited for.
_WAITS_MEANWHILE = 2
WORTH_TELLING_S = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpectedTime:
    """In seconds; `seldom_s` is for a service that fetches a key set every half a minute at most."""

    usual_s: float
    seldom_s: float

    def in_words(self, *, seldom: bool | None) -> str:
        """Minutes; both figures if it is not known which service it is. Empty for less than a minute."""
        usual, longer = _minutes(self.usual_s), _minutes(self.seldom_s)
        known_s = self.usual_s if seldom is False else self.seldom_s
        if known_s <= WORTH_TELLING_S:
            return ""
        if seldom is not None or usual == longer:
            return f"expected to take {usual if seldom is False else longer}"
        return f"expected to take {usual}, or {longer} if the service fetches its keys twice a minute at most"


def expected_time(
    checks: Iterable[Check], left_out: Iterable[str] = (), *, workers: int, rate: float | None = None
) -> ExpectedTime:
    """The times for all cases of these checks; those that need what is `left_out` do not run."""
    without = frozenset(left_out)
    asked = [check for check in checks if not without.intersection(check.needs)]
    cases = sum(len(check.ids()) for check in asked)
    each_s = max(_CHECK_S, _REQUESTS / rate if rate else 0.0)
    waits = _WAITING_SHARE * sum(len(check.ids()) for check in asked if check.turn is Turn.NEW_KEY)
    ends = any(check.turn is Turn.END_OF_A_PROXY_TOKEN for check in asked)
    end_s = FIRST_PROXY_TOKENS_S + PROXY_TOKEN_GRACE_S if ends else 0.0
    start_s = _START_S + _WORKER_S * workers
    if workers > 1:
        # Processors and rate are shared, so only waits overlap.
        usual_s = max(end_s, cases * each_s)
        seldom_s = max(usual_s, (cases * each_s + end_s + waits * SELDOM_S) / workers)
    else:
        usual_s = max(end_s, cases * each_s)
        later = waits - min(waits, _WAITS_MEANWHILE) if ends else waits
        seldom_s = max(usual_s, end_s + later * SELDOM_S)
    return ExpectedTime(usual_s=start_s + usual_s, seldom_s=start_s + seldom_s)


def _minutes(seconds: float) -> str:
    if seconds <= WORTH_TELLING_S:
        return "less than a minute"
    minutes = round(seconds / 60)
    return f"about {minutes} minutes" if minutes > 1 else "about a minute"
