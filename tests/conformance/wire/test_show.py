"""What is shown of an exchange tells nothing of the secrets that were in it."""

from __future__ import annotations

import json

import pytest

from gateproof.conformance.wire.exchange import Answer, Exchange, Request
from gateproof.conformance.wire.redacted_view import show
from gateproof.reports.redaction import Redactor


def redeemed(token: str) -> Exchange:
    body = json.dumps({"access_token": token, "scopes": ["orders:read"]}).encode()
    return Exchange(
        step="redeem",
        request=Request(method="POST", url="https://127.0.0.1:8443/api/credentials/token"),
        answer=Answer(status=200, headers=(("Content-Length", str(len(body))),), body=body),
    )


@pytest.mark.parametrize("known", [True, False])
def test_length_of_an_answer_is_hidden_with_the_secret_in_it(known: bool) -> None:
    tokens = ("f3a9c1d2e4b5a6978812", "f3a9c1d2e4b5a6978812f3a9c1d2e4b5a697")
    shown = [
        show(redeemed(token), Redactor(secrets={token: "⟨token#1⟩"} if known else {}, public=()))
        for token in tokens
    ]
    assert shown[0] == shown[1]


def test_length_of_an_answer_without_secrets_is_shown() -> None:
    shown = show(redeemed("none"), Redactor(secrets={}, public=()))
    assert dict(shown.answer_headers) == {"Content-Length": str(len(shown.answer_body))}
