"""Decides whether an answer to bad input is acceptable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from gateproof.conformance.suite.claims import expect
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.wire.client import Wire
from gateproof.conformance.wire.exchange import Exchange, Request

# 501 (not implemented) and 505 (HTTP version not supported) are answers, not failures.
_SAYS_NO = frozenset({501, 505})
_LARGE = 8_000
_BUSY_S = 1.0
# The search stops after this many bad answers.
_ENOUGH = 3


class Party(Protocol):
    """A gateway or a service."""

    @property
    def wire(self) -> Wire: ...


def is_robust(exchange: Exchange) -> bool:
    """True if an answer came in time and does not report a server failure."""
    status = exchange.status
    return status is not None and (status < 500 or status in _SAYS_NO)


def ask(party: Party, request: Request, what: str) -> Exchange:
    """Sends one odd request; repeats it if the first result proves nothing.

    503 means "later", so the request is sent again after a pause. An idle connection may have been closed, so
    a request without an answer is repeated on a new connection. A server that rejects a large body may close
    the connection before it has read all of it, and its answer may get lost; so a large request is repeated
    more often.
    """
    answer = party.wire.send(what, request)
    if answer.status == 503:
        wait_for(Cause.RECOVERY, _BUSY_S)
        return party.wire.send(what, request)
    large = len(request.body) + len(request.target or b"") > _LARGE
    for _ in range(3 if large else 1):
        if answer.answer is not None or "no answer within" in (answer.failure or ""):
            break
        answer = party.wire.send(what, replace(request, alone=True))
    return answer


def ask_all(party: Party, endpoint: str, requests: Mapping[str, Request]) -> None:
    """Expects that the endpoint answers each of these odd requests acceptably."""
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
        expected="an answer in time and with a status below 500 to every request",
        got="; ".join(f"{each.step.removeprefix(f'{endpoint}, ')}: {each.outcome()}" for each in bad),
        exchange=bad[0] if bad else None,
    )
