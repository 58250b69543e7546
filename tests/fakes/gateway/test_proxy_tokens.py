"""A Proxy token is said to live for some time, and lives for an hour."""

from __future__ import annotations

import time

import pytest

from gateproof.fakes.gateway.proxy_tokens import PROXY_TOKEN_S, issued, issued_before


@pytest.mark.parametrize("life_s", [90, PROXY_TOKEN_S, 2 * PROXY_TOKEN_S])
def test_short_life_is_over_before_the_hour_is(life_s: int) -> None:
    token, now = issued("a-secret-of-tests", life_s), time.monotonic()

    assert token.announced_expiry - now == pytest.approx(life_s, abs=2)
    assert token.expires_at - now == pytest.approx(max(life_s, PROXY_TOKEN_S), abs=2)


def test_token_of_an_earlier_run_is_known_by_its_secret_alone() -> None:
    token = issued("a-secret-of-tests", 90)
    known = issued_before("a-secret-of-tests", token.value)

    assert known is not None
    assert known.announced_expiry == pytest.approx(token.announced_expiry, abs=2)
    assert issued_before("another-secret", token.value) is None
