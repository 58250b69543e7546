"""What a gateway owes its callers is judged by what its merchant said."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from gateproof.conformance.kit.gateway import failure_oracle
from gateproof.conformance.suite.claims import Violated, tallying
from gateproof.conformance.wire.exchange import Answer, Exchange, Request
from gateproof.fakes.merchant.records import JournalEntry


def answer(status: int | None, body: bytes = b"{}") -> Exchange:
    request = Request(method="POST", url="https://gateway.test/api/credentials/token")
    came = None if status is None else Answer(status=status, body=body)
    failure = "no answer within 30 s" if came is None else None
    return Exchange(step="redemption", request=request, answer=came, failure=failure)


def due(*journal: JournalEntry, since: int = 0, moves_clock: bool = True) -> failure_oracle.ExpiringToken:
    alone = SimpleNamespace(
        asked=lambda *grants: [entry for entry in journal if entry.grant in grants],
        world=SimpleNamespace(clock=SimpleNamespace(can_move=lambda: moves_clock)),
    )
    nobody = cast("Any", None)
    return failure_oracle.ExpiringToken(
        alone=cast("Any", alone), agent=nobody, grant=nobody, proxy_token=nobody, expired="old", since=since
    )


def refresh(ordinal: int, **more: Any) -> JournalEntry:
    return JournalEntry(ordinal=ordinal, time=0.0, endpoint="token", grant="refresh_token", **more)


def test_a_410_that_nobody_asked_for_is_a_false_rejection() -> None:
    with tallying(), pytest.raises(Violated, match="answers 500"):
        failure_oracle.no_false_rejection(due(refresh(1, outcome="server_error")), answer(410), "answers 500")


@pytest.mark.parametrize(
    "said", [{"outcome": "reject"}, {"outcome": "rotate_then_500", "error": "invalid_grant: used before"}]
)
def test_a_410_after_the_merchants_refusal_is_honest(said: dict[str, str]) -> None:
    with tallying() as tally:
        failure_oracle.no_false_rejection(due(refresh(1, **said)), answer(410), "answers 500")

    assert tally.expected == 1


def test_a_refusal_of_an_earlier_token_counts_for_nothing() -> None:
    with tallying(), pytest.raises(Violated):
        failure_oracle.no_false_rejection(
            due(refresh(1, outcome="reject"), since=1), answer(410), "answers 500"
        )


@pytest.mark.parametrize("status", [200, 404, 500, 503])
def test_what_else_a_merchant_in_trouble_leads_to_is_open(status: int) -> None:
    with tallying():
        failure_oracle.no_false_rejection(due(), answer(status), "answers 500")


def test_no_answer_is_none() -> None:
    with tallying(), pytest.raises(Violated):
        failure_oracle.expect_answered(answer(None), "says nothing")


def test_an_expired_token_is_not_handed_out() -> None:
    stale, fresh = b'{"access_token": "old"}', b'{"access_token": "new"}'
    with tallying(), pytest.raises(Violated):
        failure_oracle.expect_not_expired(due(), answer(200, stale), "answers 500")
    with tallying():
        failure_oracle.expect_not_expired(due(), answer(200, fresh), "answers 500")
        failure_oracle.expect_not_expired(due(moves_clock=False), answer(200, stale), "answers 500")
