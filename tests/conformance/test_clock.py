"""The target's time is right wherever its clock stands, and whether or not its Date follows what moves."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from gateproof.conformance.kit.gateway.clock import Clock
from gateproof.conformance.wire.exchange import Answer, Exchange, Request

# The Date has whole seconds.
ROUNDED_S = 2.0


def dated(ahead_s: float) -> Exchange:
    headers = (("Date", formatdate(time.time() + ahead_s, usegmt=True)),)
    request = Request(method="GET", url="https://gateway.test/")
    return Exchange(step="any", request=request, answer=Answer(status=200, headers=headers))


@pytest.mark.parametrize("offset_s", [0.0, 60.0, 86_400.0])
@pytest.mark.parametrize("skew_s", [0.0, 5.0, -5.0, 20.0])
@pytest.mark.parametrize("follows", [True, False], ids=["date moves", "date stands"])
def test_what_time_it_is_for_the_target(offset_s: float, skew_s: float, follows: bool) -> None:
    answer = dated(skew_s + (offset_s if follows else 0))
    found = Clock(offset_s=offset_s).target_time(answer) - time.time()
    assert found == pytest.approx(offset_s + skew_s, abs=ROUNDED_S)


def test_answer_without_a_date_says_nothing() -> None:
    bare = Exchange(step="any", request=Request(method="GET", url="https://gateway.test/"))
    assert Clock(offset_s=60.0).target_time(bare) - time.time() == pytest.approx(60.0, abs=ROUNDED_S)
