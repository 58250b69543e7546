"""Gateways whose Proxy tokens are JWTs, and that accept forged ones."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import jwt

from gateproof.reference.defects.gateway.forged_tokens import (
    UNVERIFIED,
    Header,
    jwt_parts,
    proxy_claims,
    proxy_token_jwt,
    public_pem,
    verified_by_hmac,
)
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.keys import KeyRing, SigningKey
from gateproof.reference.gateway.policy import redemption
from gateproof.reference.gateway.records import ProxyToken
from gateproof.reference.gateway.store import Store
from gateproof.reference.ids import Ids

Trusted = Callable[[str, Header, tuple[SigningKey, ...]], bool]
SHARED = secrets.token_bytes(32)


def under_a_shared_key(record: ProxyToken, _keys: KeyRing, ids: Ids) -> str:
    return jwt.encode(proxy_claims(record, ids), SHARED, "HS256", headers={"typ": "proxy+jwt"})


def also(trusted: Trusted) -> Callable[[Store, str], ProxyToken | None]:
    """Accepts, besides issued tokens, those for which `trusted` is true."""

    def behind(store: Store, token: str) -> ProxyToken | None:
        known = redemption.proxy_token_behind(store, token)
        try:
            if known is not None or not trusted(token, jwt_parts(token)[0], (store.core_keys.current,)):
                return known
            claims: dict[str, Any] = jwt.decode(token, options=UNVERIFIED)
            return ProxyToken(
                client_id=claims["client_id"], project_id=claims["project_id"], expires_at=claims["exp"]
            )
        except (jwt.PyJWTError, KeyError, ValueError, TypeError, AttributeError, IndexError):
            return None

    return behind


DEFECTS = (
    defect(
        "proxy-token-of-no-algorithm (REDEEM-11): Proxy tokens are JWTs signed with a shared key, and the "
        "gateway accepts one with alg none.",
        new_proxy_token=under_a_shared_key,
        proxy_token_behind=also(lambda _token, header, _keys: header.get("alg") == "none"),
    ),
    defect(
        "proxy-token-by-public-pem (REDEEM-11): Proxy tokens are JWTs, and the gateway accepts one whose "
        "HMAC key is the public key in PEM.",
        new_proxy_token=proxy_token_jwt,
        proxy_token_behind=also(verified_by_hmac(public_pem)),
    ),
)
