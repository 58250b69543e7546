"""What first calls ask for counts also where nobody was served by them (rule BACK-02)."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gateproof.conformance.checks.service import back
from gateproof.conformance.suite.claims import LeftOut, Tally, Unmet, Violated, tallying
from gateproof.conformance.targets.model import Limits

# Calls that were served and requests for a Proxy token, try by try.
Tries = Sequence[tuple[int, int]]


def burst(monkeypatch: pytest.MonkeyPatch, tries: Tries) -> Tally:
    """The check, of a service that has its Proxy token after these tries and needs no other."""
    told = iter(tries)
    monkeypatch.setattr(back, "_called_at_once", lambda *_: next(told))
    monkeypatch.setattr(back, "requests_proxy_token", lambda *_: False)
    journal = SimpleNamespace(since=lambda *_: [])
    world = SimpleNamespace(
        gateway=SimpleNamespace(journal=journal),
        service_state=SimpleNamespace(asked_by_first_calls=None),
        limits=Limits(),
    )
    with tallying() as tally:
        cast("Any", back.burst_of_first_calls_shares_a_proxy_token)(None, world)
    return tally


@pytest.mark.parametrize(
    "tries",
    [[(12, 12)], [(0, 12), (12, 0)], [(0, 12), (0, 0), (12, 0)], [(0, 1), (0, 12), (1, 0)]],
    ids=["served", "then without", "third", "second"],
)
def test_a_request_a_call_is_too_many(monkeypatch: pytest.MonkeyPatch, tries: Tries) -> None:
    with pytest.raises(Violated, match="Proxy token requests"):
        burst(monkeypatch, tries)


@pytest.mark.parametrize(
    ("tries", "counted"),
    [([(12, 1)], 1), ([(0, 4), (12, 0)], 4), ([(0, 2), (0, 3), (12, 0)], 3), ([(0, 12), (12, 1)], 1)],
    ids=["one", "given up", "twice", "served decides"],
)
def test_a_shared_request_is_counted(monkeypatch: pytest.MonkeyPatch, tries: Tries, counted: int) -> None:
    assert burst(monkeypatch, tries).observed == {"requests_in_a_burst": counted}


def test_a_token_from_before_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LeftOut):
        burst(monkeypatch, [(12, 0)])


def test_calls_that_are_never_served_decide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unmet):
        burst(monkeypatch, [(0, 12)] * 3)
