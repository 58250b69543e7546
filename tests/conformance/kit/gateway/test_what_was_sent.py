"""What the suite keeps in mind of its requests: tokens in addresses, and redemptions without a token."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateproof.conformance.kit.gateway.misplaced_tokens import MisplacedTokens
from gateproof.conformance.kit.gateway.redeemed_tokens import gave_a_token
from gateproof.conformance.wire.exchange import Answer, Exchange, Request

REDEMPTION = "https://gateway.test/api/credentials/token"
TOKEN = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJzdWJfMSJ9.c2lnbmF0dXJlLW9mLWEtdG9rZW4"
CREDENTIALS = (("Authorization", f"Bearer {TOKEN}"), ("X-Proxy-Token", "proxy"))
NAMED: dict[str, Any] = {"resource": "https://api.merchant.example/v1"}


def redeemed(answer: Any, *, status: int = 200, body: Any = NAMED, headers: Any = CREDENTIALS) -> Exchange:
    request = Request(method="POST", url=REDEMPTION, headers=headers, body=json.dumps(body).encode())
    return Exchange(
        step="redemption",
        request=request,
        answer=Answer(status=status, body=json.dumps(answer).encode()),
    )


@pytest.mark.parametrize(
    ("url", "headers", "target"),
    [
        (f"{REDEMPTION}?access_token={TOKEN}&a=b", (), None),
        (REDEMPTION, (("cookie", f"access_token={TOKEN}; a=b"),), None),
        (REDEMPTION, (), f"/api?t={TOKEN}".encode()),
    ],
)
def test_token_in_an_address_or_cookie_is_kept_in_mind(url: str, headers: Any, target: bytes | None) -> None:
    misplaced = MisplacedTokens()
    misplaced.note(
        Exchange(step="redemption", request=Request(method="POST", url=url, headers=headers, target=target))
    )

    assert misplaced.holds(TOKEN)
    assert MisplacedTokens(misplaced.digests()).holds(TOKEN)
    assert TOKEN not in misplaced.digests()


@pytest.mark.parametrize(
    ("step", "request_"),
    [
        ("redemption", Request(method="POST", url=REDEMPTION, headers=CREDENTIALS)),
        ("browser", Request(method="GET", url=f"https://gateway.test/?access_token={TOKEN}")),
    ],
)
def test_other_tokens_are_searched_for_as_ever(step: str, request_: Request) -> None:
    misplaced = MisplacedTokens()
    misplaced.note(Exchange(step=step, request=request_))

    assert not misplaced.holds(TOKEN)


@pytest.mark.parametrize("answer", [{}, {"access_token": ""}, {"access_token": ["none"]}, {"error": "no"}])
def test_redemption_without_a_token_is_empty(answer: Any) -> None:
    assert gave_a_token(redeemed(answer)) is False


def test_redemption_with_a_token_gave_one() -> None:
    assert gave_a_token(redeemed({"access_token": "a", "scopes": None})) is True


@pytest.mark.parametrize(
    "exchange",
    [
        redeemed({}, status=404),
        redeemed([]),
        redeemed({}, body={}),
        redeemed({}, headers=CREDENTIALS[:1]),
        redeemed({}, headers=(*CREDENTIALS, CREDENTIALS[0])),
    ],
)
def test_nothing_is_said_of_other_answers(exchange: Exchange) -> None:
    assert gave_a_token(exchange) is None
