"""How long a token that has expired may be served: a minute from its end, by the beginning of a call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gateproof.conformance.checks.service import _expiring
from gateproof.conformance.suite.claims import Violated, tallying
from gateproof.conformance.wire.exchange import Answer, Exchange, Request

CHALLENGE = (("WWW-Authenticate", 'Bearer resource_metadata="https://orders.example/metadata"'),)
EXPIRES_AT = 1000.0


class SlowService:
    """Takes a while for every call, and looks at the token when it comes."""

    def __init__(self, *, leeway_s: float, takes_s: float) -> None:
        self.now = EXPIRES_AT - 1
        self.leeway_s = leeway_s
        self.takes_s = takes_s

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def ask(self, expires_at: float = EXPIRES_AT) -> Exchange:
        # As libraries do that know no fractions of a second.
        good = int(self.now) <= expires_at + self.leeway_s
        self.now += self.takes_s
        answer = Answer(status=200) if good else Answer(status=401, headers=CHALLENGE)
        return Exchange(step="operation", request=Request(method="POST", url="https://o/"), answer=answer)


def _asked(service: SlowService, monkeypatch: pytest.MonkeyPatch) -> None:
    clock: Any = service
    monkeypatch.setattr(_expiring, "time", clock)
    monkeypatch.setattr("gateproof.conformance.suite.pauses.time", clock)
    with tallying():
        _expiring.refused_once_expired(service.ask, EXPIRES_AT, lambda: service.ask(EXPIRES_AT - 120))


@pytest.mark.parametrize("takes_s", [0.01, 0.7, 3, 30])
@pytest.mark.parametrize("leeway_s", [0, 30, 60])
def test_leeway_of_a_minute_is_granted(
    monkeypatch: pytest.MonkeyPatch, leeway_s: float, takes_s: float
) -> None:
    _asked(SlowService(leeway_s=leeway_s, takes_s=takes_s), monkeypatch)


@pytest.mark.parametrize("takes_s", [0.01, 3])
@pytest.mark.parametrize("leeway_s", [64, 119, 3600])
def test_more_is_not(monkeypatch: pytest.MonkeyPatch, leeway_s: float, takes_s: float) -> None:
    with pytest.raises(Violated):
        _asked(SlowService(leeway_s=leeway_s, takes_s=takes_s), monkeypatch)


@pytest.mark.parametrize("status", [400, 404])
@pytest.mark.parametrize("before_s", [-2, 0, 2])
def test_session_may_end_with_its_token_or_before(
    monkeypatch: pytest.MonkeyPatch, status: int, before_s: float
) -> None:
    """Whether the token is refused outside of the session is another claim."""
    service = SlowService(leeway_s=60, takes_s=0.01)
    clock: Any = service
    monkeypatch.setattr(_expiring, "time", clock)
    monkeypatch.setattr("gateproof.conformance.suite.pauses.time", clock)

    def ask() -> Exchange:
        answer = service.ask()
        ended = service.now > EXPIRES_AT - before_s
        return replace(answer, answer=Answer(status=status)) if ended else answer

    with tallying():
        _expiring.refused_in_a_session_once_expired(ask, EXPIRES_AT, lambda: service.ask(EXPIRES_AT - 120))
