"""A code is over when the target file says so, also where that is in days."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gateproof.conformance.checks.gateway import code
from gateproof.conformance.suite.claims import Violated, tallying
from gateproof.conformance.wire.exchange import Answer, Exchange, Request

DAY_S, HOUR_S = 24 * 3600, 3600


def asked(monkeypatch: pytest.MonkeyPatch, *, lives_s: float, declared_s: float | None) -> None:
    """The check, of a gateway whose codes live so long and whose target file declares this."""
    moved_s: list[float] = []

    def exchange(_authorization: object) -> Exchange:
        over = sum(moved_s) >= lives_s
        body = {"error": "invalid_grant"} if over else {"access_token": "a"}
        request = Request(method="POST", url="https://gateway.test/oauth2/token")
        answer = Answer(status=400 if over else 200, body=json.dumps(body).encode())
        return Exchange(step="code exchange", request=request, answer=answer)

    world = SimpleNamespace(
        code_lifetime_s=declared_s,
        clock=SimpleNamespace(can_move=lambda: True, advance=moved_s.append),
        gateway=SimpleNamespace(exchange=exchange),
    )
    monkeypatch.setattr(code, "code_after_working_exchange", lambda world: (world, None))
    with tallying():
        cast("Any", code.expired_code_is_refused)(world)


def test_a_code_that_outlives_what_is_declared_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Violated):
        asked(monkeypatch, lives_s=HOUR_S, declared_s=60)


def test_a_code_that_ends_when_it_is_declared_to_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked(monkeypatch, lives_s=60, declared_s=60)
    asked(monkeypatch, lives_s=DAY_S, declared_s=30 * DAY_S)
    asked(monkeypatch, lives_s=2 * DAY_S, declared_s=2 * DAY_S)


def test_a_code_may_live_for_hours_where_nothing_is_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    asked(monkeypatch, lives_s=HOUR_S, declared_s=None)
