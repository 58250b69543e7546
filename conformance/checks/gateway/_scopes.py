"""The scopes that a token answer shows."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.jose import read


def scopes_in(answer: Exchange) -> set[str]:
    """The scopes that an answer names, and those in its access token."""
    token = read(str(answer.member("access_token")))
    claims: Mapping[str, object] = token.claims if token is not None else {}
    found: set[str] = set()
    for value in (answer.member("scope"), *(claims.get(name) for name in ("scope", "scp", "scopes"))):
        if isinstance(value, str | list):
            found.update(map(str, value.split() if isinstance(value, str) else value))
    return found
