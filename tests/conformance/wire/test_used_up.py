"""A code that is refused after the target asked to send it again is no refusal of a good code."""

from __future__ import annotations

import pytest

from gateproof.conformance.suite.claims import UsedUp, Violated, expect, tallying
from gateproof.conformance.suite.races import expect_all_accepted
from gateproof.conformance.wire.exchange import Answer, Exchange, Request

CODE = b"grant_type=authorization_code&code=c-1"
BUSY = Answer(status=503, headers=(("Retry-After", "1"),))


def exchange(status: int, *retries: Answer, body: bytes = CODE) -> Exchange:
    request = Request(method="POST", url="https://gateway.test/oauth2/token", body=body)
    return Exchange(step="code exchange", request=request, answer=Answer(status=status), retries=retries)


@pytest.mark.parametrize("body", [CODE, b"grant_type=refresh_token&refresh_token=r-1"])
def test_success_expected_of_what_may_be_used_up_shows_nothing(body: bytes) -> None:
    with tallying(), pytest.raises(UsedUp):
        expect(exchange(400, BUSY, body=body)).status(200)


def test_refusal_that_is_expected_counts_all_the_same() -> None:
    with tallying():
        expect(exchange(400, BUSY)).refused()
        expect(exchange(400, BUSY)).status(400)


@pytest.mark.parametrize(
    "refused",
    [exchange(400), exchange(500, BUSY), exchange(400, BUSY, body=b"grant_type=client_credentials")],
)
def test_other_refusals_of_a_good_request_break_the_claim(refused: Exchange) -> None:
    with tallying(), pytest.raises(Violated):
        expect(refused).status(200)


def test_race_passes_over_what_may_be_used_up() -> None:
    with tallying():
        expect_all_accepted([exchange(200), exchange(400, BUSY)], "a code beside others")
    with tallying(), pytest.raises(Violated):
        expect_all_accepted([exchange(200), exchange(400)], "a code beside others")
