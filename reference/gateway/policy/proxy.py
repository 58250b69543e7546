"""The checks of the token endpoint for Proxy clients."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import unquote_plus

from gateproof.reference.gateway.keys import KeyRing
from gateproof.reference.gateway.policy.code_exchange import TokenRequestFacts
from gateproof.reference.gateway.records import ProxyClient, ProxyToken
from gateproof.reference.gateway.store import Store
from gateproof.reference.ids import Ids, fingerprint
from gateproof.reference.outcomes import JsonObject, Refusal

PROXY_TOKEN_LIFETIME_S = 3599


@dataclass(frozen=True, kw_only=True, slots=True)
class ProxyCredentials:
    """The client ID and secret that a Proxy client sent."""

    client_id: str
    secret: str = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class ProxyClientFacts:
    """The sent credentials and the Proxy client of that ID."""

    credentials: ProxyCredentials
    client: ProxyClient | None


ProxyClientCheck = Callable[[ProxyClientFacts], Refusal | None]


def proxy_credentials(facts: TokenRequestFacts) -> ProxyCredentials | Refusal:
    """Only HTTP Basic, with both parts form-encoded (RFC 6749 section 2.3.1)."""
    if facts.value("client_secret"):
        return _invalid_client("Proxy clients authenticate with HTTP Basic, not in the body")
    scheme, _, given = (facts.authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return _invalid_client("Proxy clients authenticate with HTTP Basic")
    try:
        pair = base64.b64decode(given.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return _invalid_client("the Basic credentials are malformed")
    client_id, colon, secret = pair.partition(":")
    if not colon:
        return _invalid_client("the Basic credentials are malformed")
    return ProxyCredentials(client_id=unquote_plus(client_id), secret=unquote_plus(secret))


def proxy_client_named(store: Store, credentials: ProxyCredentials) -> ProxyClient | None:
    """The Proxy client of this ID; the secret is checked later."""
    return store.proxy_clients.get(credentials.client_id)


def proxy_client_is_known(facts: ProxyClientFacts) -> Refusal | None:
    return None if facts.client is not None else _invalid_client("unknown Proxy client or wrong secret")


def proxy_secret_is_right(facts: ProxyClientFacts) -> Refusal | None:
    given = fingerprint(facts.credentials.secret)
    if facts.client is not None and hmac.compare_digest(given, facts.client.secret):
        return None
    return _invalid_client("unknown Proxy client or wrong secret")


def proxy_client_is_not_revoked(facts: ProxyClientFacts) -> Refusal | None:
    if facts.client is not None and not facts.client.revoked:
        return None
    return _invalid_client("the Proxy client was revoked")


PROXY_CLIENT_CHECKS: tuple[ProxyClientCheck, ...] = (
    proxy_client_is_known,
    proxy_secret_is_right,
    proxy_client_is_not_revoked,
)


def new_proxy_token(record: ProxyToken, keys: KeyRing, ids: Ids) -> str:  # noqa: ARG001 - it says nothing
    """An opaque random token."""
    return ids.secret()


def keep_proxy_token(store: Store, token: str, record: ProxyToken, now: float) -> None:
    """Stores a new token; earlier ones stay valid."""
    store.proxy_tokens.add(fingerprint(token), record, now)


def proxy_token_answer(token: str, lifetime_s: int) -> JsonObject:
    """Without a refresh token (RFC 6749 section 4.4.3)."""
    return {"access_token": token, "token_type": "Bearer", "expires_in": lifetime_s}


def _invalid_client(description: str) -> Refusal:
    return Refusal(
        status=401, error="invalid_client", description=description, challenge='Basic realm="gateway"'
    )
