"""The gateway's HTTP client for merchants: limited in time and size, without redirects."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode, urljoin

import jwt

from gateproof.doubles.compact_jws import ParsedJwt, parsed_jwt
from gateproof.reference.gateway.http_client import HttpAnswer, HttpClient, TooLarge
from gateproof.reference.gateway.policy.sign_in import key_set_uri
from gateproof.reference.gateway.policy.vault import MerchantAnswer, MerchantLimits, Trouble
from gateproof.reference.gateway.records import MerchantPlace

HONEST = MerchantLimits()
KEYS_AGAIN_AFTER_S = 1
ALGORITHMS = frozenset({"RS256", "PS256", "ES256", "ES384", "EdDSA"})

HEADERS = {"accept": "application/json", "accept-encoding": "identity"}
FORM = {"content-type": "application/x-www-form-urlencoded"}

Connect = Callable[[str | None], HttpClient]
# The address of the key set for the ID tokens of a merchant with this `kid`.
KeySetUri = Callable[[MerchantPlace, object], str]


def connect(ca_file: str | None) -> HttpClient:
    """A client that trusts this CA."""
    return HttpClient(ssl.create_default_context(cafile=ca_file))


class Merchants:
    """One connection pool for each CA, because a TLS context is expensive."""

    def __init__(
        self,
        connecting: Connect = connect,
        *,
        limits: MerchantLimits = HONEST,
        note: Callable[[str], None] = lambda _line: None,
        key_set_uri: KeySetUri = key_set_uri,
    ) -> None:
        self._connect = connecting
        self._note = note
        self._limits = limits
        self._key_set_uri = key_set_uri
        self._clients: dict[str | None, HttpClient] = {}
        self._keys: dict[str, tuple[float, list[dict[str, Any]]]] = {}

    async def ask(self, merchant: MerchantPlace, form: dict[str, str]) -> MerchantAnswer:
        """One request to the token endpoint; every failure is an answer without a status."""
        answer = await self._request(merchant.ca_file, "POST", merchant.token_endpoint, form)
        if answer.trouble is not None:
            self._note(f"no answer of the merchant to {merchant.client_id}: {answer.trouble}")
        return answer

    async def verified_id_token(self, merchant: MerchantPlace, token: str) -> dict[str, Any] | None:
        """The claims of an ID token with a valid signature of the merchant; else None."""
        parsed = parsed_jwt(token)
        if parsed is None or parsed.header.get("alg") not in ALGORITHMS:
            return None
        uri, ca_file = self._key_set_uri(merchant, parsed.header.get("kid")), merchant.ca_file
        claims = _verified(parsed, await self._key_set(uri, ca_file, max_age_s=3600))
        return claims or _verified(parsed, await self._key_set(uri, ca_file, max_age_s=KEYS_AGAIN_AFTER_S))

    async def userinfo(self, merchant: MerchantPlace, access_token: str) -> dict[str, Any] | None:
        """The merchant's userinfo about a user; None without an answer."""
        bearer = {"authorization": f"Bearer {access_token}"}
        url = merchant.userinfo_endpoint
        answer = await self._request(merchant.ca_file, "GET", url, None, headers=bearer)
        return answer.document if answer.status == 200 else None

    async def described(self, issuer: str, ca_file: str | None) -> dict[str, Any] | None:
        """The discovery document of an issuer; None if there is none, or it has another issuer."""
        document = await self.document_of(issuer, ca_file)
        return document if document is not None and document.get("issuer") == issuer else None

    async def document_of(self, issuer: str, ca_file: str | None) -> dict[str, Any] | None:
        """The discovery document at the address of this issuer, whatever issuer it names."""
        url = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
        answer = await self._request(ca_file, "GET", url, None)
        return answer.document if answer.status == 200 else None

    def trust(self, ca_file: str | None) -> None:
        """Loads a CA file now, to detect a wrong file at once."""
        self._client(ca_file)

    async def aclose(self) -> None:
        for client in self._clients.values():
            await client.aclose()

    def _client(self, ca_file: str | None) -> HttpClient:
        if ca_file not in self._clients:
            self._clients[ca_file] = self._connect(ca_file)
        return self._clients[ca_file]

    async def _key_set(self, uri: str, ca_file: str | None, *, max_age_s: float) -> list[dict[str, Any]]:
        fetched_at, keys = self._keys.get(uri, (float("-inf"), []))
        if time.monotonic() - fetched_at < max_age_s:
            return keys
        answer = await self._request(ca_file, "GET", uri, None)
        found = (answer.document or {}).get("keys")
        if answer.status != 200 or not isinstance(found, list):
            return keys
        keys = [key for key in found if isinstance(key, dict)]
        self._keys[uri] = (time.monotonic(), keys)
        return keys

    async def _request(
        self,
        ca_file: str | None,
        method: str,
        url: str,
        form: dict[str, str] | None,
        headers: dict[str, str] | None = None,
    ) -> MerchantAnswer:
        """Refuses compressed bodies, which could be of any size after decompression."""
        try:
            async with asyncio.timeout(self._limits.total_s):
                answer = await self._sent(self._client(ca_file), method, url, form, headers or {})
        except TooLarge:
            return MerchantAnswer(status=None, trouble="size")
        except (OSError, ValueError) as error:
            return MerchantAnswer(status=None, trouble=_trouble(error))
        if answer.headers.get("content-encoding", "identity") != "identity":
            return MerchantAnswer(status=None, trouble="encoding")
        return MerchantAnswer(
            status=answer.status,
            document=_document(answer.body),
            retry_after=answer.headers.get("retry-after"),
        )

    async def _sent(
        self,
        client: HttpClient,
        method: str,
        url: str,
        form: dict[str, str] | None,
        headers: dict[str, str],
    ) -> HttpAnswer:
        body = b"" if form is None else urlencode(form).encode("ascii")
        fields = {**HEADERS, **({} if form is None else FORM), **headers}
        answer = await client.request(method, url, fields, body, self._limits)
        while self._limits.follows_redirects and "location" in answer.headers:
            url = urljoin(url, answer.headers["location"])
            answer = await client.request(method, url, fields, body, self._limits)
        return answer


def _trouble(error: Exception) -> Trouble:
    """The kind of failure; the error's text could contain what was sent."""
    if isinstance(error, TimeoutError):
        return "late"
    return "tls" if isinstance(error, ssl.SSLError) else "connection"


def _document(body: bytes) -> dict[str, Any] | None:
    try:
        document = json.loads(body.decode())
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _verified(given: ParsedJwt, keys: list[dict[str, Any]]) -> dict[str, Any] | None:
    kid = given.header.get("kid")
    for jwk in keys:
        if kid is not None and jwk.get("kid") not in (None, kid):
            continue
        material = _usable(json.dumps(jwk), given.header["alg"])
        if material is not None and material.Algorithm.verify(given.signed, material.key, given.signature):
            return given.claims
    return None


@lru_cache(maxsize=256)
def _usable(jwk: str, algorithm: str) -> jwt.PyJWK | None:
    """The key of a JWK, if it fits the algorithm; to parse it takes longer than to verify a signature."""
    try:
        found = jwt.PyJWK(json.loads(jwk), algorithm=algorithm)
        found.Algorithm.prepare_key(found.key)
    except (jwt.PyJWTError, ValueError, TypeError, KeyError):
        return None
    return found
