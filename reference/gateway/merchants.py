"""The gateway's HTTP client for merchants: limited in time and size, without redirects."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import Callable
from typing import Any

import httpx
import jwt

from gateproof.reference.gateway.policy.redemption import SIGNATURE_ONLY
from gateproof.reference.gateway.policy.vault import MerchantAnswer, MerchantLimits, Trouble
from gateproof.reference.gateway.records import MerchantPlace

HONEST = MerchantLimits()
KEYS_AGAIN_AFTER_S = 1
ALGORITHMS = frozenset({"RS256", "PS256", "ES256", "ES384", "EdDSA"})

Connect = Callable[[str | None], httpx.AsyncClient]


def connect(ca_file: str | None) -> httpx.AsyncClient:
    """A client that trusts this CA and ignores proxy settings in the environment."""
    return httpx.AsyncClient(
        verify=ssl.create_default_context(cafile=ca_file),
        trust_env=False,
        headers={"accept": "application/json", "accept-encoding": "identity"},
    )


class Merchants:
    """One connection pool for each CA, because a TLS context is expensive."""

    def __init__(
        self,
        connecting: Connect = connect,
        *,
        limits: MerchantLimits = HONEST,
        note: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self._connect = connecting
        self._note = note
        self._limits = limits
        self._timeout = httpx.Timeout(limits.silence_s, connect=limits.connecting_s)
        self._clients: dict[str | None, httpx.AsyncClient] = {}
        self._keys: dict[str, tuple[float, list[dict[str, Any]]]] = {}

    async def ask(self, merchant: MerchantPlace, form: dict[str, str]) -> MerchantAnswer:
        """One request to the token endpoint; every failure is an answer without a status."""
        answer = await self._request(merchant.ca_file, "POST", merchant.token_endpoint, form)
        if answer.trouble is not None:
            self._note(f"no answer of the merchant to {merchant.client_id}: {answer.trouble}")
        return answer

    async def verified_id_token(self, merchant: MerchantPlace, token: str) -> dict[str, Any] | None:
        """The claims of an ID token with a valid signature of the merchant; else None."""
        try:
            header = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, ValueError):
            return None
        if header.get("alg") not in ALGORITHMS:
            return None
        claims = _verified(token, header, await self._key_set(merchant, max_age_s=3600))
        return claims or _verified(token, header, await self._key_set(merchant, max_age_s=KEYS_AGAIN_AFTER_S))

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

    def _client(self, ca_file: str | None) -> httpx.AsyncClient:
        if ca_file not in self._clients:
            self._clients[ca_file] = self._connect(ca_file)
        return self._clients[ca_file]

    async def _key_set(self, merchant: MerchantPlace, *, max_age_s: float) -> list[dict[str, Any]]:
        fetched_at, keys = self._keys.get(merchant.jwks_uri, (float("-inf"), []))
        if time.monotonic() - fetched_at < max_age_s:
            return keys
        answer = await self._request(merchant.ca_file, "GET", merchant.jwks_uri, None)
        found = (answer.document or {}).get("keys")
        if answer.status != 200 or not isinstance(found, list):
            return keys
        keys = [key for key in found if isinstance(key, dict)]
        self._keys[merchant.jwks_uri] = (time.monotonic(), keys)
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
        body = bytearray()
        try:
            async with (
                asyncio.timeout(self._limits.total_s),
                self._client(ca_file).stream(
                    method,
                    url,
                    data=form,
                    headers=headers,
                    timeout=self._timeout,
                    follow_redirects=self._limits.follows_redirects,
                ) as answer,
            ):
                if answer.headers.get("content-encoding", "identity") != "identity":
                    return MerchantAnswer(status=None, trouble="encoding")
                async for chunk in answer.aiter_raw():
                    body += chunk
                    if len(body) > self._limits.most_octets:
                        return MerchantAnswer(status=None, trouble="size")
        except (
            httpx.HTTPError,
            httpx.InvalidURL,
            httpx.StreamError,
            TimeoutError,
            OSError,
            ValueError,
        ) as error:
            return MerchantAnswer(status=None, trouble=_trouble(error))
        return MerchantAnswer(
            status=answer.status_code,
            document=_document(bytes(body)),
            retry_after=answer.headers.get("retry-after"),
        )


def _trouble(error: Exception) -> Trouble:
    """The kind of failure; the library's text could contain what was sent."""
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return "late"
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return "tls"
        cause = cause.__cause__ or cause.__context__
    return "connection"


def _document(body: bytes) -> dict[str, Any] | None:
    try:
        document = json.loads(body.decode())
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _verified(token: str, header: dict[str, Any], keys: list[dict[str, Any]]) -> dict[str, Any] | None:
    algorithm = header["alg"]
    for jwk in keys:
        if header.get("kid") is not None and jwk.get("kid") not in (None, header["kid"]):
            continue
        try:
            key = jwt.PyJWK(jwk, algorithm=algorithm).key
            claims: dict[str, Any] = jwt.decode(token, key, algorithms=[algorithm], options=SIGNATURE_ONLY)
        except (jwt.PyJWTError, ValueError, TypeError, KeyError):
            continue
        return claims
    return None
