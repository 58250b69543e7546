"""A caller who is asked to wait comes again: until then, it has had no answer."""

from __future__ import annotations

import time
from collections.abc import Callable

from gateproof.conformance.wire.client import RATE_LIMIT_BUDGET_S, RateLimited, asked_to_wait
from gateproof.conformance.wire.exchange import Exchange

# Who is asked to wait each time has been understood after so many.
MOST_TIMES = 6
# So long is waited first at least, and each time twice as long.
_FIRST_S = 0.2


def waited_out(
    ask: Callable[[], Exchange], answered: Callable[[Exchange], bool] = lambda _: False
) -> Exchange:
    """The first answer that does not ask to wait, or that has `answered` all the same.

    Where all of them do, or there is no more time, nothing has been seen of the service.
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
        time.sleep(wait_s)
    waited_s = time.monotonic() - begun
    raise RateLimited(f"{answer.step}: still status {answer.status} after waiting {waited_s:.0f} s")
