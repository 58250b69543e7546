"""Repeats a request as long as the answer asks to wait (Retry-After)."""

from __future__ import annotations

import time
from collections.abc import Callable

from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.wire.client import RATE_LIMIT_BUDGET_S, RateLimited, asked_to_wait
from gateproof.conformance.wire.exchange import Exchange

# Limit of repetitions for a service that asks to wait each time.
MOST_TIMES = 6
# The minimum of the first wait; it doubles each time.
_FIRST_S = 0.2


def repeat_while_asked_to_wait(
    ask: Callable[[], Exchange], answered: Callable[[Exchange], bool] = lambda _: False
) -> Exchange:
    """The first answer that does not ask to wait, or for which `answered` is true.

    Raises RateLimited if there is no such answer in time: then nothing is known about the service.
    """
    begun = time.monotonic()
    for asked in range(MOST_TIMES):
        answer = ask()
        wait_s = asked_to_wait(answer.answer)
        if wait_s is None or answered(answer):
            return answer
        wait_s = max(wait_s, _FIRST_S * 2**asked)
        if asked == MOST_TIMES - 1 or time.monotonic() - begun + wait_s > RATE_LIMIT_BUDGET_S:
            break
        wait_for(Cause.RECOVERY, wait_s)
    waited_s = time.monotonic() - begun
    raise RateLimited(f"{answer.step}: still status {answer.status} after waiting {waited_s:.0f} s")
