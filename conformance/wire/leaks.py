"""Finding a secret in what came back."""

from __future__ import annotations

from conformance.wire.exchange import Exchange
from conformance.wire.secret import Secret
from reports.encodings import embedded


def carries(exchange: Exchange, secret: Secret) -> str | None:
    """Where an answer holds the secret, in any encoding: the part of it; None when it does not."""
    if exchange.answer is None:
        return None
    forms = [form for form in embedded(secret.reveal()) if len(form) >= 8]
    for name, value in exchange.answer.headers:
        if any(form in value for form in forms):
            return f"header {name}"
    text = exchange.answer.text()
    return "body" if any(form in text for form in forms) else None
