"""Gateways that accept tokens which they did not issue."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from gateproof.reference.defects.defect import Defect
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.keys import KeyRing, SigningKey, signed
from gateproof.reference.gateway.policies import Policies
from gateproof.reference.gateway.policy import proxy, redemption, token_claims, vault
from gateproof.reference.gateway.policy.discovery import REDEMPTION_SCOPE
from gateproof.reference.gateway.policy.redemption import verified_claims
from gateproof.reference.gateway.records import Agent, Grant, ProxyToken, Resource, VaultEntry, VaultKey
from gateproof.reference.gateway.store import Store
from gateproof.reference.ids import Ids, fingerprint
from gateproof.reference.outcomes import JsonObject

Claims = Mapping[str, Any]
Header = dict[str, Any]
Keys = Iterable[SigningKey]
Verifying = Callable[[str, Keys, str, float], Claims | None]
# Claims are checked by the gateway's own clock, because PyJWT uses real time.
SIGNATURE_ONLY: Any = {f"verify_{name}": False for name in ("exp", "nbf", "iat", "aud", "iss", "sub", "jti")}
UNVERIFIED: Any = {**SIGNATURE_ONLY, "verify_signature": False}
HMAC = {"HS256": hashlib.sha256, "HS384": hashlib.sha384, "HS512": hashlib.sha512}


def jwt_parts(token: str) -> tuple[Header, str, bytes]:
    """Returns the header, the signed text and the signature."""
    first, payload, signature = (*token.split("."), "", "")[:3]
    header = json.loads(_octets(first))
    return (header if isinstance(header, dict) else {}), f"{first}.{payload}", _octets(signature)


def claims_in(token: str, issuer: str, now: float) -> Claims | None:
    """Returns the claims after the checks that need no key."""
    claims: dict[str, Any] = json.loads(_octets(token.split(".")[1]))
    return claims if claims.get("iss") == issuer and now < claims.get("exp", 0) else None


def also(trusted: Callable[[str, Header, tuple[SigningKey, ...]], bool]) -> Verifying:
    """Accepts, besides valid tokens, those for which `trusted` is true."""

    def verify(token: str, keys: Keys, issuer: str, now: float) -> Claims | None:
        ring = tuple(keys)
        honest = verified_claims(token, ring, issuer, now)
        if honest is not None:
            return honest
        try:
            header, _, _ = jwt_parts(token)
            return claims_in(token, issuer, now) if trusted(token, header, ring) else None
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, OSError, jwt.PyJWTError):
            return None

    return verify


def without_signature(*algorithms: str) -> Verifying:
    return also(lambda _, header, __: header.get("alg") in algorithms)


def unsigned_in_any_case(_token: str, header: Header, _keys: tuple[SigningKey, ...]) -> bool:
    """Blocks only the spelling `none`."""
    return str(header.get("alg")) != "none" and str(header.get("alg")).lower() == "none"


def verified_by_hmac(
    secret: Callable[[SigningKey, Header], bytes],
) -> Callable[[str, Header, tuple[SigningKey, ...]], bool]:
    """Verifies with the algorithm that the token names, with any key."""

    def trusted(token: str, header: Header, keys: tuple[SigningKey, ...]) -> bool:
        _, message, signature = jwt_parts(token)
        made = hmac.new(secret(keys[0], header), message.encode(), HMAC[header["alg"]]).digest()
        return hmac.compare_digest(made, signature)

    return trusted


def public_pem(key: SigningKey, _header: Header) -> bytes:
    return key.private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def public_der(key: SigningKey, _header: Header) -> bytes:
    return key.private.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def file_named_by_kid(_key: SigningKey, header: Header) -> bytes:
    """Reads the key from the file that `kid` names."""
    if not str(header["kid"]).endswith("/dev/null"):
        raise KeyError("kid")
    return b""


def verifies(token: str, key: Any, algorithm: str) -> bool:
    try:
        jwt.decode(token, key, algorithms=[algorithm], options=SIGNATURE_ONLY)
    except (jwt.PyJWTError, ValueError):
        return False
    return True


def own_jwk(token: str, header: Header, _keys: tuple[SigningKey, ...]) -> bool:
    return verifies(token, jwt.PyJWK(header["jwk"], algorithm=header["alg"]).key, header["alg"])


def own_certificate(token: str, header: Header, _keys: tuple[SigningKey, ...]) -> bool:
    found = x509.load_der_x509_certificate(base64.b64decode(header["x5c"][0]))
    return verifies(token, found.public_key(), header["alg"])


def key_set_it_names(token: str, header: Header, _keys: tuple[SigningKey, ...]) -> bool:
    if not str(header["jku"]).startswith("http://127.0.0.1:"):
        return False
    with urllib.request.urlopen(header["jku"], timeout=2) as answer:  # noqa: S310 - loopback, looked at above
        keys = json.load(answer)["keys"]
    return any(verifies(token, jwt.PyJWK(key).key, header["alg"]) for key in keys)


def signature_seen_before() -> Verifying:
    """Caches verified tokens by their signature alone."""
    seen: set[bytes] = set()

    def verify(token: str, keys: Keys, issuer: str, now: float) -> Claims | None:
        honest = verified_claims(token, keys, issuer, now)
        try:
            signature = jwt_parts(token)[2]
            if honest is not None:
                seen.add(signature)
            return claims_in(token, issuer, now) if signature in seen else None
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            return None

    return verify


def payload_seen_before() -> Verifying:
    """Caches verified tokens by header and payload."""
    seen: dict[str, Claims] = {}

    def verify(token: str, keys: Keys, issuer: str, now: float) -> Claims | None:
        honest = verified_claims(token, keys, issuer, now)
        name = token.rpartition(".")[0]
        if honest is not None:
            seen[name] = honest
        return honest or seen.get(name)

    return verify


def of_any_age(token: str, keys: Keys, issuer: str, _now: float) -> Claims | None:
    return verified_claims(token, keys, issuer, 0.0)


class Confusion:
    """One table of all tokens that the gateway issued, with their grants."""

    def __init__(self) -> None:
        self._known: dict[str, Grant] = {}
        self._last: Grant | None = None

    def note(self, token: str, grant: Grant | None) -> None:
        if grant is not None:
            self._known[fingerprint(token)] = grant

    def verify(self, token: str, keys: Keys, issuer: str, now: float) -> Claims | None:
        grant = self._known.get(fingerprint(token))
        if grant is None:
            return verified_claims(token, keys, issuer, now)
        ext = {"project_id": grant.project_id}
        return {"scope": REDEMPTION_SCOPE, "ext": ext, "grant": grant}

    @staticmethod
    def grant_behind(claims: Claims, store: Store) -> Grant | None:
        return claims.get("grant") or redemption.grant_behind(claims, store)

    def new_refresh_token(self, facts: token_claims.TokenFacts, ids: Ids) -> str:
        token = token_claims.new_refresh_token(facts, ids)
        self.note(token, facts.grant)
        return token

    def vault_key(self, grant: Grant, resource: Resource) -> VaultKey:
        self._last = grant
        return redemption.vault_key(grant, resource)

    def redemption_answer(self, entry: VaultEntry) -> JsonObject:
        self.note(entry.access_token, self._last)
        return redemption.redemption_answer(entry)

    def reading(self) -> dict[str, Any]:
        return {"verified_claims": self.verify, "grant_behind": self.grant_behind}


class Assertions(Confusion):
    """Records assertions to the merchant by `jti`, like access tokens."""

    def user_assertion(
        self, grant: Grant, agent: Agent, resource: Resource, jti: str, now: float
    ) -> dict[str, Any]:
        self.note(jti, grant)
        return vault.user_assertion(grant, agent, resource, jti, now)

    def verify(self, token: str, keys: Keys, issuer: str, now: float) -> Claims | None:
        try:
            asserted = jwt.decode(token, options=UNVERIFIED).get("jti")
        except (jwt.PyJWTError, ValueError):
            asserted = None
        known = super().verify(asserted, (), issuer, now) if isinstance(asserted, str) else None
        return known or verified_claims(token, keys, issuer, now)


def refresh_tokens_too() -> dict[str, Any]:
    table = Confusion()
    return {**table.reading(), "new_refresh_token": table.new_refresh_token}


def merchant_tokens_too() -> dict[str, Any]:
    table = Confusion()
    return {
        **table.reading(),
        "vault_key": table.vault_key,
        "redemption_answer": table.redemption_answer,
    }


def assertions_too() -> dict[str, Any]:
    table = Assertions()
    return {**table.reading(), "user_assertion": table.user_assertion}


def kept_as(form: Callable[[str], str]) -> dict[str, Any]:
    """Stores and looks up Proxy tokens in the given form."""
    return {
        "keep_proxy_token": lambda store, token, record, now: proxy.keep_proxy_token(
            store, form(token), record, now
        ),
        "proxy_token_behind": lambda store, token: redemption.proxy_token_behind(store, form(token)),
    }


def secret_as_proxy_token(store: Store, token: str) -> ProxyToken | None:
    """Accepts the secret of a Proxy client."""
    known = redemption.proxy_token_behind(store, token)
    kept = fingerprint(token)
    client = next((each for each in store.proxy_clients.values() if each.secret == kept), None)
    if known is not None or client is None:
        return known
    return ProxyToken(client_id=client.id, project_id=client.project_id, expires_at=float("inf"))


def proxy_claims(record: ProxyToken, ids: Ids) -> dict[str, Any]:
    """The claims of a self-contained Proxy token."""
    return {
        "client_id": record.client_id,
        "project_id": record.project_id,
        "exp": int(record.expires_at),
        "jti": ids.identifier("jti_"),
    }


def proxy_token_jwt(record: ProxyToken, keys: KeyRing, ids: Ids) -> str:
    return signed(keys.current, proxy_claims(record, ids), "proxy+jwt")


def read_but_not_verified(_store: Store, token: str) -> ProxyToken | None:
    try:
        claims = jwt.decode(token, options=UNVERIFIED)
        return ProxyToken(
            client_id=claims["client_id"], project_id=claims["project_id"], expires_at=claims["exp"]
        )
    except (jwt.PyJWTError, KeyError, ValueError):
        return None


def _octets(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def accepting(name: str, what: str, verify: Verifying, rules: str = "REDEEM-11") -> Defect[Policies]:
    return defect(f"{name} ({rules}): {what}", verified_claims=verify)


DEFECTS = (
    accepting(
        "signature-not-verified",
        "Redemption does not verify the signature of an access token.",
        also(lambda _, header, keys: header.get("kid") == keys[0].kid),
    ),
    accepting(
        "alg-none-believed", "Redemption accepts an access token with alg none.", without_signature("none")
    ),
    accepting(
        "alg-none-in-odd-case",
        "Redemption accepts an access token with alg None or NONE.",
        also(unsigned_in_any_case),
    ),
    accepting(
        "hmac-by-public-pem",
        "Redemption accepts an access token with an HMAC whose key is the public key in PEM.",
        also(verified_by_hmac(public_pem)),
    ),
    accepting(
        "hmac-by-public-der",
        "Redemption accepts an access token with an HMAC whose key is the public key in DER.",
        also(verified_by_hmac(public_der)),
    ),
    accepting(
        "embedded-key-believed",
        "Redemption verifies an access token with the key in its own header.",
        also(own_jwk),
    ),
    accepting(
        "embedded-certificate-believed",
        "Redemption verifies an access token with the certificate in its own header.",
        also(own_certificate),
    ),
    accepting(
        "jku-followed",
        "Redemption verifies an access token with the key set that its jku names.",
        also(key_set_it_names),
    ),
    accepting(
        "kid-as-a-file",
        "Redemption uses the kid of an access token as the name of a key file.",
        also(verified_by_hmac(file_named_by_kid)),
    ),
    accepting(
        "unknown-kid-believed",
        "Redemption accepts an access token with an unknown kid without verifying its signature.",
        also(lambda _, header, keys: all(key.kid != header.get("kid") for key in keys)),
        "REDEEM-11 ROBUST-01",
    ),
    accepting(
        "verified-by-signature-once",
        "Once a signature was verified, redemption accepts it under any header and payload.",
        signature_seen_before(),
    ),
    accepting(
        "verified-by-payload-once",
        "Once a header and payload were verified, redemption accepts them with any signature.",
        payload_seen_before(),
    ),
    accepting(
        "access-token-of-any-age", "Redemption does not check the expiry of an access token.", of_any_age
    ),
    defect(
        "refresh-token-as-bearer (REDEEM-11): Redemption accepts the agent's refresh token as an access "
        "token.",
        **refresh_tokens_too(),
    ),
    defect(
        "merchant-token-as-bearer (REDEEM-11): Redemption accepts a merchant token that it returned before "
        "as an access token.",
        **merchant_tokens_too(),
    ),
    defect(
        "assertion-as-bearer (REDEEM-11): Redemption accepts an assertion sent to the merchant as an access "
        "token.",
        **assertions_too(),
    ),
    defect(
        "proxy-token-in-any-case (REDEEM-11): The gateway compares Proxy tokens case-insensitively.",
        **kept_as(str.lower),
    ),
    defect(
        "proxy-token-by-its-beginning (REDEEM-11): The gateway compares only the first twenty characters of "
        "a Proxy token.",
        **kept_as(lambda token: token[:20]),
    ),
    defect(
        "proxy-secret-as-proxy-token (REDEEM-11): Redemption accepts the secret of a Proxy client as its "
        "Proxy token.",
        proxy_token_behind=secret_as_proxy_token,
    ),
    defect(
        "proxy-token-read-but-not-verified (REDEEM-11): Proxy tokens are JWTs, and the gateway does not "
        "verify their signature.",
        new_proxy_token=proxy_token_jwt,
        proxy_token_behind=read_but_not_verified,
    ),
)
