"""The state of a scripted gateway, and its honest answers."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from urllib.parse import unquote

import jwt

from gateproof.fakes.gateway import proxy_tokens
from gateproof.fakes.gateway.journal import Call, Journal
from gateproof.fakes.gateway.keys import SigningKey, key_set, new_key, signed
from gateproof.fakes.gateway.proxy_tokens import PROXY_TOKEN_S, ProxyToken
from gateproof.fakes.gateway.script import Script

ACCESS_TOKEN_S = 3600
MERCHANT_TOKEN_S = 1800
REDEMPTION_SCOPE = "ext_token:read"
# How long a Proxy token is accepted after its stated expiry.
PROXY_TOKEN_GRACE_S = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Addresses:
    """The addresses of the parties. All except that of the discovery document may be chosen freely."""

    base_url: str
    core_url: str
    merchant_api_url: str
    core_keys_path: str = "/keys/core"
    token_path: str = "/oauth2/token"  # noqa: S105 - a path
    # The path of the issuer, which only the discovery document contains.
    issuer_path: str = "/core"

    @property
    def token_endpoint(self) -> str:
        return f"{self.core_url}{self.token_path}"

    @property
    def redemption_endpoint(self) -> str:
        return f"{self.base_url}/api/credentials/token"

    @property
    def core_jwks_uri(self) -> str:
        return f"{self.core_url}{self.core_keys_path}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Setup:
    """The one Project of the gateway, with its Resource and its Proxy client."""

    project_id: str
    resource_id: str
    indicator: str
    scopes: tuple[str, ...]
    proxy_client_id: str
    proxy_client_secret: str = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Replied:
    """A status with a JSON document, or with an HTML page instead."""

    status: int
    document: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    page: str | None = None


def _optional_members() -> Iterator[dict[str, Any]]:
    """Optional members of redemption answers; each answer uses the next entry.

    They are `expires_at` in two forms of RFC 3339, with `scopes`; then no members.
    The specification does not say of which type `scopes` is; it is always sent as an array here.
    """
    for turn in count():
        ends = datetime.now(UTC) + timedelta(seconds=MERCHANT_TOKEN_S)
        if turn % 3 == 0:
            yield {"expires_at": ends.strftime("%Y-%m-%dT%H:%M:%SZ"), "scopes": ["orders"]}
        elif turn % 3 == 1:
            yield {"expires_at": ends.isoformat(timespec="milliseconds"), "scopes": ["orders"]}
        else:
            yield {}


class ScriptedGateway:
    """Answers honestly unless its script says otherwise, and records every request."""

    def __init__(self, addresses: Addresses, setup: Setup, *, core_key: SigningKey) -> None:
        self.addresses = addresses
        self.setup = setup
        self.script = Script()
        self.journal = Journal()
        self.core_keys: list[SigningKey] = [core_key]
        # The same algorithm as the core's, so that a service that uses the wrong key set gets no hint.
        self.resource_key = new_key(core_key.algorithm)
        self.proxy_tokens: list[ProxyToken] = []
        self.merchant_tokens: dict[str, str] = {}
        self.proxy_token_life_s = PROXY_TOKEN_S
        self.proxy_tokens_written: proxy_tokens.Written = proxy_tokens.as_it_is
        # Otherwise Proxy tokens are accepted for an hour, even if a shorter lifetime was stated.
        self.ends_proxy_tokens = False
        self._optional = _optional_members()
        # Part of `sub`: a service may run longer than this gateway and cache merchant tokens by subject.
        self._run = secrets.token_hex(4)
        self._redeemable: dict[str, str] = {}
        self._issued: list[str] = []
        self._orders: dict[str, list[dict[str, str]]] = {}

    @property
    def issuer(self) -> str:
        return f"{self.addresses.core_url}{self.addresses.issuer_path}"

    @property
    def authorization_server(self) -> str:
        return f"{self.addresses.base_url}/{self.setup.resource_id}"

    @property
    def resource_jwks_uri(self) -> str:
        return f"{self.authorization_server}/jwks"

    @property
    def core_key(self) -> SigningKey:
        """The key that signs now; the others are still in the key set."""
        return self.core_keys[-1]

    @property
    def algorithm(self) -> str:
        """The algorithm of the first core key, which is the default for every other key."""
        return self.core_keys[0].algorithm

    def add_core_key(self, algorithm: str | None = None, key: SigningKey | None = None) -> SigningKey:
        """Signs with this key, or a new one, from now on; the earlier keys stay in the set."""
        self.core_keys = [*self.core_keys, key or new_key(algorithm or self.algorithm)]
        return self.core_key

    def sign_with(self, key: SigningKey) -> None:
        """Signs with this key of the set from now on; the others stay in the set."""
        self.core_keys = [*(each for each in self.core_keys if each is not key), key]

    def withdraw_core_key(self, key: SigningKey | None = None) -> None:
        """Removes this key, or the newest, from the key set."""
        removed = key or self.core_key
        self.core_keys = [each for each in self.core_keys if each is not removed]

    def keep_core_keys(self, *kept: SigningKey) -> None:
        """Removes all other keys from the set; replaces the Resource's key if it has another algorithm."""
        self.core_keys = list(kept)
        if self.resource_key.algorithm != self.algorithm:
            self.resource_key = new_key(self.algorithm)

    def claims(self, user: str, **changes: Any) -> dict[str, Any]:
        """The claims of a good access token, with these changes; None removes a claim."""
        now, scopes = int(time.time()), ("openid", *self.setup.scopes, REDEMPTION_SCOPE)
        claims: dict[str, Any] = {
            "iss": self.issuer,
            "aud": [self.setup.indicator],
            "sub": f"sub_{user}_{self._run}",
            "iat": now,
            "exp": now + ACCESS_TOKEN_S,
            "jti": secrets.token_urlsafe(12),
            # The specification names no claim for the scope; authorization servers use these two.
            "scope": " ".join(scopes),
            "scp": list(scopes),
            "ext": {
                "acr": "urn:gateway:acr:al2",
                "amr": ["mfa", "kba"],
                "agent": {
                    "client_id": "agent_1",
                    "domain": "agent.example",
                    "name": "Test agent",
                    "verifications": [],
                },
                "project_id": self.setup.project_id,
            },
            **changes,
        }
        return {name: value for name, value in claims.items() if value is not None}

    def access_token(self, user: str, **changes: Any) -> str:
        """A good access token of the user, or one with these claims changed. It can be redeemed."""
        return self.token_signed_with(self.core_key, user, **changes)

    def token_signed_with(self, key: SigningKey, user: str, **changes: Any) -> str:
        """The same, signed with this key."""
        token = self._redeemed_later(key, user, changes)
        self._issued.append(token)
        return token

    def is_good(self, token: str) -> bool:
        """True for a token of this gateway that a service has to accept.

        It can be redeemed, is signed with the present core key, is for the Resource, and has not expired.
        """
        if token not in self._redeemable or jwt.get_unverified_header(token).get("kid") != self._kid():
            return False
        claims = jwt.decode(token, options={"verify_signature": False})
        audience, exp = claims.get("aud"), claims.get("exp")
        audiences = audience if isinstance(audience, list) else [audience]
        return (
            claims.get("iss") == self.issuer
            and self.setup.indicator in audiences
            and isinstance(exp, int | float)
            and exp > time.time()
        )

    def _kid(self) -> object:
        return self.core_key.jwk["kid"]

    def resigned_with(self, key: SigningKey, token: str) -> str:
        """The same claims, signed with this key."""
        again = signed(jwt.decode(token, options={"verify_signature": False}), key)
        self._redeemable[again] = self._redeemable[token]
        self._issued.append(again)
        return again

    def misplaced_token(self, user: str, **changes: Any) -> str:
        """A good access token that will be sent in an unusual place.

        It is not in `access_tokens`, because an access log of URLs or headers may contain it.
        """
        return self._redeemed_later(self.core_key, user, changes)

    def access_tokens(self) -> list[str]:
        """All signed access tokens so far, good and bad, without those of `astray_token`."""
        return list(self._issued)

    def _redeemed_later(self, key: SigningKey, user: str, changes: Mapping[str, Any]) -> str:
        token = signed(self.claims(user, **changes), key)
        self.let_redeem(token, user)
        return token

    def let_redeem(self, token: str, user: str) -> None:
        """Redemption accepts this as a token of the user, whether it is valid or not."""
        self._redeemable[token] = user

    def user_of(self, token: str) -> str | None:
        """The user for whom redemption accepts this token."""
        return self._redeemable.get(token)

    def orders_of(self, user: str) -> list[dict[str, str]]:
        """The user's orders, with random identifiers."""
        if user not in self._orders:
            self._orders[user] = [
                {"id": f"order-{secrets.token_hex(6)}", "item": item} for item in ("lamp", "kettle")
            ]
        return self._orders[user]

    def revoke_proxy_tokens(self) -> None:
        """Revokes all Proxy tokens so far."""
        for token in self.proxy_tokens:
            token.revoked = True

    def revive_proxy_tokens(self) -> None:
        """Undoes `revoke_proxy_tokens`; the tokens still expire."""
        for token in self.proxy_tokens:
            token.revoked = False

    def discovery(self) -> Replied:
        where = self.addresses
        return Replied(
            status=200,
            document={
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.authorization_server}/oauth2/auth",
                "token_endpoint": where.token_endpoint,
                "registration_endpoint": f"{where.base_url}/api/register",
                "jwks_uri": where.core_jwks_uri,
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": sorted({key.algorithm for key in self.core_keys}),
            },
        )

    def keys(self) -> Replied:
        return Replied(status=200, document=key_set(*self.core_keys))

    def resource_keys(self) -> Replied:
        return Replied(status=200, document=key_set(self.resource_key))

    def token(self, call: Call) -> Replied:
        """A Proxy token, for the Proxy client in the Basic header."""
        if not self._is_the_proxy_client(call):
            return Replied(status=401, document={"error": "invalid_client"})
        if call.form().get("grant_type") != "client_credentials":
            return Replied(status=400, document={"error": "unsupported_grant_type"})
        token = self.proxy_token()
        document = {"access_token": token.value, "token_type": "Bearer", "expires_in": token.life_s}
        return Replied(status=200, document=document)

    def proxy_token(self) -> ProxyToken:
        token = proxy_tokens.issued(
            self.setup.proxy_client_secret, self.proxy_token_life_s, self.proxy_tokens_written
        )
        self.proxy_tokens.append(token)
        return token

    def redemption(self, call: Call) -> Replied:
        """A merchant token for the user of the access token."""
        authorization, proxy = call.header("authorization"), call.header("x-proxy-token")
        body = call.json()
        if not authorization or not proxy:
            return Replied(status=400, document={"error": "invalid_request"})
        scheme, _, bearer = authorization.partition(" ")
        user = self.user_of(bearer.strip()) if scheme.lower() == "bearer" else None
        if user is None or not self._is_alive(proxy):
            return Replied(status=401, document={"error": "invalid_token"})
        if not isinstance(body, dict) or body.get("resource") != self.setup.indicator:
            return Replied(status=404, document={"error": "not_found"})
        document = {"access_token": self.merchant_token(user), **next(self._optional)}
        return Replied(status=200, document=document)

    def merchant_token(self, user: str) -> str:
        token = f"mt_{secrets.token_urlsafe(30)}"
        self.merchant_tokens[token] = user
        return token

    def orders(self, call: Call) -> Replied:
        """The merchant API's answer to a call with a merchant token."""
        scheme, _, bearer = (call.header("authorization") or "").partition(" ")
        user = self.merchant_tokens.get(bearer.strip()) if scheme.lower() == "bearer" else None
        if user is None:
            return Replied(status=401, document={"error": "invalid_token"})
        return Replied(status=200, document={"orders": self.orders_of(user)})

    def _is_alive(self, value: str) -> bool:
        known = next((token for token in self.proxy_tokens if token.value == value), None)
        if known is None:
            known = proxy_tokens.issued_before(self.setup.proxy_client_secret, value)
            if known is None:
                return False
            self.proxy_tokens.append(known)
        until = known.announced_expiry + PROXY_TOKEN_GRACE_S if self.ends_proxy_tokens else known.expires_at
        return not known.revoked and time.monotonic() < until

    def _is_the_proxy_client(self, call: Call) -> bool:
        scheme, _, encoded = (call.header("authorization") or "").partition(" ")
        try:
            client_id, colon, secret = (
                base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
            )
        except (binascii.Error, ValueError):
            return False
        wanted = (self.setup.proxy_client_id, self.setup.proxy_client_secret)
        given = ((client_id, secret), (unquote(client_id), unquote(secret)))
        return (
            scheme.lower() == "basic"
            and bool(colon)
            and any(hmac.compare_digest(json.dumps(pair), json.dumps(wanted)) for pair in given)
        )
