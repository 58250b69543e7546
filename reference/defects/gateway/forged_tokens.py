"""Gateways that believe tokens which they did not issue."""

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
Believing = Callable[[str, Keys, str, float], Claims | None]
UNVERIFIED: Any = {**redemption.SIGNATURE_ONLY, "verify_signature": False}
HMAC = {"HS256": hashlib.sha256, "HS384": hashlib.sha384, "HS512": hashlib.sha512}


def parts(token: str) -> tuple[Header, str, bytes]:
    """Header, what was signed, and the signature."""
    first, payload, signature = (*token.split("."), "", "")[:3]
    header = json.loads(_octets(first))
    return (header if isinstance(header, dict) else {}), f"{first}.{payload}", _octets(signature)


def claims_in(token: str, issuer: str, now: float) -> Claims | None:
    """The claims as they stand there, with the checks that need no key."""
    claims: dict[str, Any] = json.loads(_octets(token.split(".")[1]))
    return claims if claims.get("iss") == issuer and now < claims.get("exp", 0) else None


def also(trusted: Callable[[str, Header, tuple[SigningKey, ...]], bool]) -> Believing:
    """Whatever this trusts is believed beside what is right."""

    def believe(token: str, keys: Keys, issuer: str, now: float) -> Claims | None:
        ring = tuple(keys)
        honest = verified_claims(token, ring, issuer, now)
        if honest is not None:
            return honest
        try:
            header, _, _ = parts(token)
            return claims_in(token, issuer, now) if trusted(token, header, ring) else None
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, OSError, jwt.PyJWTError):
            return None

    return believe


def without_signature(*algorithms: str) -> Believing:
    return also(lambda _, header, __: header.get("alg") in algorithms)


def unsigned_in_any_case(_token: str, header: Header, _keys: tuple[SigningKey, ...]) -> bool:
    """The block list knows `none` as it is usually written."""
    return str(header.get("alg")) != "none" and str(header.get("alg")).lower() == "none"


def by_hmac(
    secret: Callable[[SigningKey, Header], bytes],
) -> Callable[[str, Header, tuple[SigningKey, ...]], bool]:
    """The algorithm that the token names, with whatever key is at hand."""

    def trusted(token: str, header: Header, keys: tuple[SigningKey, ...]) -> bool:
        _, message, signature = parts(token)
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
    """Keys are files, and `kid` is the name of one."""
    if not str(header["kid"]).endswith("/dev/null"):
        raise KeyError("kid")
    return b""


def verifies(token: str, key: Any, algorithm: str) -> bool:
    try:
        jwt.decode(token, key, algorithms=[algorithm], options=redemption.SIGNATURE_ONLY)
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


def signature_seen_before() -> Believing:
    """A token is verified once; later its signature tells that it was."""
    seen: set[bytes] = set()

    def believe(token: str, keys: Keys, issuer: str, now: float) -> Claims | None:
        honest = verified_claims(token, keys, issuer, now)
        try:
            signature = parts(token)[2]
            if honest is not None:
                seen.add(signature)
            return claims_in(token, issuer, now) if signature in seen else None
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            return None

    return believe


def payload_seen_before() -> Believing:
    """What was verified is kept by header and payload."""
    seen: dict[str, Claims] = {}

    def believe(token: str, keys: Keys, issuer: str, now: float) -> Claims | None:
        honest = verified_claims(token, keys, issuer, now)
        name = token.rpartition(".")[0]
        if honest is not None:
            seen[name] = honest
        return honest or seen.get(name)

    return believe


def of_any_age(token: str, keys: Keys, issuer: str, _now: float) -> Claims | None:
    return verified_claims(token, keys, issuer, 0.0)


class Confusion:
    """One table of everything that the gateway has ever handed out, and whom it was handed out for."""

    def __init__(self) -> None:
        self._known: dict[str, Grant] = {}
        self._last: Grant | None = None

    def note(self, token: str, grant: Grant | None) -> None:
        if grant is not None:
            self._known[fingerprint(token)] = grant

    def believe(self, token: str, keys: Keys, issuer: str, now: float) -> Claims | None:
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
        return {"verified_claims": self.believe, "grant_behind": self.grant_behind}


class Assertions(Confusion):
    """What was asserted to the merchant is on record by its `jti`, like an access token."""

    def user_assertion(
        self, grant: Grant, agent: Agent, resource: Resource, jti: str, now: float
    ) -> dict[str, Any]:
        self.note(jti, grant)
        return vault.user_assertion(grant, agent, resource, jti, now)

    def believe(self, token: str, keys: Keys, issuer: str, now: float) -> Claims | None:
        try:
            asserted = jwt.decode(token, options=UNVERIFIED).get("jti")
        except (jwt.PyJWTError, ValueError):
            asserted = None
        known = super().believe(asserted, (), issuer, now) if isinstance(asserted, str) else None
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
    """Proxy tokens are kept, and found again, by a part of what they are."""
    return {
        "keep_proxy_token": lambda store, token, record, now: proxy.keep_proxy_token(
            store, form(token), record, now
        ),
        "proxy_token_behind": lambda store, token: redemption.proxy_token_behind(store, form(token)),
    }


def secret_as_proxy_token(store: Store, token: str) -> ProxyToken | None:
    """The client's secret is good enough."""
    known = redemption.proxy_token_behind(store, token)
    kept = fingerprint(token)
    client = next((each for each in store.proxy_clients.values() if each.secret == kept), None)
    if known is not None or client is None:
        return known
    return ProxyToken(client_id=client.id, project_id=client.project_id, expires_at=float("inf"))


def proxy_claims(record: ProxyToken, ids: Ids) -> dict[str, Any]:
    """What a Proxy token says that says itself what it is good for."""
    return {
        "client_id": record.client_id,
        "project_id": record.project_id,
        "exp": int(record.expires_at),
        "jti": ids.identifier("jti_"),
    }


def self_contained(record: ProxyToken, keys: KeyRing, ids: Ids) -> str:
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


def believing(name: str, what: str, believe: Believing, rules: str = "REDEEM-11") -> Defect[Policies]:
    return defect(f"{name} ({rules}): {what}", verified_claims=believe)


DEFECTS = (
    believing(
        "signature-not-verified",
        "The signature of an access token is not verified.",
        also(lambda _, header, keys: header.get("kid") == keys[0].kid),
    ),
    believing("alg-none-believed", "A token with alg none is believed.", without_signature("none")),
    believing(
        "alg-none-in-odd-case", "A token with alg None or NONE is believed.", also(unsigned_in_any_case)
    ),
    believing(
        "hmac-by-public-pem",
        "A token under an HMAC of the public key in PEM is believed.",
        also(by_hmac(public_pem)),
    ),
    believing(
        "hmac-by-public-der",
        "A token under an HMAC of the public key in DER is believed.",
        also(by_hmac(public_der)),
    ),
    believing("embedded-key-believed", "The key in a token's own header verifies it.", also(own_jwk)),
    believing(
        "embedded-certificate-believed",
        "The certificate in a token's own header verifies it.",
        also(own_certificate),
    ),
    believing("jku-followed", "The key set that a token names verifies it.", also(key_set_it_names)),
    believing(
        "kid-as-a-file", "The kid of a token is the name of a key file.", also(by_hmac(file_named_by_kid))
    ),
    believing(
        "unknown-kid-believed",
        "A token whose kid is unknown is taken for one of a key that was rotated out.",
        also(lambda _, header, keys: all(key.kid != header.get("kid") for key in keys)),
        "REDEEM-11 ROBUST-01",
    ),
    believing(
        "verified-by-signature-once",
        "A signature that was verified is believed again, whatever it stands under.",
        signature_seen_before(),
    ),
    believing(
        "verified-by-payload-once",
        "A payload that was verified is believed again, whatever signature is under it.",
        payload_seen_before(),
    ),
    believing("access-token-of-any-age", "The expiry of an access token is not looked at.", of_any_age),
    defect(
        "refresh-token-as-bearer (REDEEM-11): The agent's refresh token redeems.",
        **refresh_tokens_too(),
    ),
    defect(
        "merchant-token-as-bearer (REDEEM-11): A merchant token that was redeemed redeems again.",
        **merchant_tokens_too(),
    ),
    defect("assertion-as-bearer (REDEEM-11): What was asserted to the merchant redeems.", **assertions_too()),
    defect(
        "proxy-token-in-any-case (REDEEM-11): Proxy tokens are compared without regard to case.",
        **kept_as(str.lower),
    ),
    defect(
        "proxy-token-by-its-beginning (REDEEM-11): The first twenty characters of a Proxy token do.",
        **kept_as(lambda token: token[:20]),
    ),
    defect(
        "proxy-secret-as-proxy-token (REDEEM-11): The secret of a Proxy client does as its Proxy token.",
        proxy_token_behind=secret_as_proxy_token,
    ),
    defect(
        "proxy-token-read-but-not-verified (REDEEM-11): Proxy tokens are JWTs whose signature nobody "
        "verifies.",
        new_proxy_token=self_contained,
        proxy_token_behind=read_but_not_verified,
    ),
)
