"""What counts as a sound answer to bad input."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from gateproof.conformance.suite.claims import expect
from gateproof.conformance.wire.client import Wire
from gateproof.conformance.wire.exchange import Exchange, Request

# "Not implemented" and "that version of HTTP is not supported" are answers, not failures.
_SAYS_NO = frozenset({501, 505})
_LARGE = 8_000
_BUSY_S = 1.0
# Bad answers after which no more are looked for.
_ENOUGH = 3


class Party(Protocol):
    """A gateway or a service: whatever answers requests."""

    @property
    def wire(self) -> Wire: ...


def is_robust(exchange: Exchange) -> bool:
    """An answer came in time, and it is not that the server failed."""
    status = exchange.status
    return status is not None and (status < 500 or status in _SAYS_NO)


def ask(party: Party, request: Request, what: str) -> Exchange:
    """One odd request, asked again where the first answer proves nothing.

    503 says "later", so it is asked later. A connection may have been idle for too long, so a second one that
    nobody has used decides. A server that turns a large body down may close before all of it has come, and
    its answer can get lost on that way.
    """
    answer = party.wire.send(what, request)
    if answer.status == 503:
        time.sleep(_BUSY_S)
        return party.wire.send(what, request)
    large = len(request.body) + len(request.target or b"") > _LARGE
    for _ in range(3 if large else 1):
        if answer.answer is not None or "no answer within" in (answer.failure or ""):
            break
        answer = party.wire.send(what, replace(request, alone=True))
    return answer


def ask_all(party: Party, endpoint: str, requests: Mapping[str, Request]) -> None:
    """The endpoint gives each of these odd requests a sound answer."""
    bad: list[Exchange] = []
    for name, request in requests.items():
        answer = ask(party, request, f"{endpoint}, {name}")
        if not is_robust(answer):
            bad.append(answer)
        if len(bad) >= _ENOUGH:
            break
    expect.that(
        not bad,
        endpoint,
        expected="an answer in time and below 500 to everything",
        got="; ".join(f"{each.step.removeprefix(f'{endpoint}, ')}: {each.outcome()}" for each in bad),
    )
