"""The merchant's side: signing users in with its identity provider, and getting and refreshing its tokens."""

import asyncio
import json
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import httpx
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry, Key, KeySet

from . import credentials
from .clock import Clock
from .keys import ALGORITHM
from .projects import Resource

ANSWER_WITHIN_S = 4
MAX_ANSWER = 256 * 1024
ASSERTION_LIFETIME_S = 60
ID_TOKEN_ALGORITHMS = ["RS256", "PS256", "ES256", "ES384", "EdDSA"]
CLIENT_ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


class MerchantTrouble(Exception):
    """The merchant could not be reached, or did not answer as an authorization server does."""


class MerchantRefused(Exception):
    """The merchant has looked at what it was sent, and does not accept it."""


@dataclass(frozen=True)
class Identity:
    login: str
    amr: list[str]


@dataclass(frozen=True)
class IssuedToken:
    access_token: str
    refresh_token: str | None
    lifetime_s: float | None
    scopes: list[str] | None


class Merchants:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._clients: dict[tuple[str | None, int], httpx.AsyncClient] = {}

    async def close(self) -> None:
        for client in self._clients.values():
            await client.aclose()

    def sign_in_url(self, resource: Resource, callback: str, state: str, nonce: str, challenge: str) -> str:
        query = urlencode(
            {
                "response_type": "code",
                "client_id": resource.merchant.client_id,
                "redirect_uri": callback,
                "scope": "openid profile email",
                "state": state,
                "nonce": nonce,
                "code_challenge": challenge,
                "code_challenge_method": "S256",
            }
        )
        endpoint = resource.merchant.authorization_endpoint
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{query}"

    async def identify(self, resource: Resource, callback: str, code: str, verifier: str, nonce: str) -> Identity:
        """Exchanges the merchant's code, and says who has signed in."""
        fields = {"grant_type": "authorization_code", "code": code, "redirect_uri": callback, "code_verifier": verifier}
        answer = await self._token_request(resource, fields)
        id_token = answer.get("id_token")
        if not isinstance(id_token, str):
            raise MerchantTrouble("no ID token")
        key_set = _key_set(await self._request(resource, "GET", resource.merchant.jwks_uri))
        try:
            claims = jwt.decode(id_token, key_set, algorithms=ID_TOKEN_ALGORITHMS).claims
        except (JoseError, ValueError) as error:
            raise MerchantTrouble("ID token does not verify") from error
        self._check_id_token(claims, resource, nonce)
        amr = claims.get("amr")
        return Identity(claims["sub"], amr if _is_list_of_strings(amr) and amr else ["pwd"])

    def _check_id_token(self, claims: dict[str, object], resource: Resource, nonce: str) -> None:
        client_id, audience, expiry = resource.merchant.client_id, claims.get("aud"), claims.get("exp")
        audiences = [audience] if isinstance(audience, str) else audience
        if claims.get("iss") != resource.merchant.issuer or claims.get("nonce") != nonce:
            raise MerchantTrouble("ID token of another issuer or sign-in")
        if not _is_list_of_strings(audiences) or client_id not in audiences:
            raise MerchantTrouble("ID token for another client")
        if (len(audiences) > 1 or "azp" in claims) and claims.get("azp") != client_id:
            raise MerchantTrouble("ID token for another authorized party")
        if not _is_number(expiry) or expiry <= self._clock.now():
            raise MerchantTrouble("ID token has expired")
        subject = claims.get("sub")
        if not isinstance(subject, str) or not 0 < len(subject) <= 255:
            raise MerchantTrouble("ID token without a user")

    async def provision(self, resource: Resource, login: str, agent_id: str, scopes: list[str]) -> IssuedToken:
        """Gets a merchant token for a user who has signed in, by an assertion that the Resource's key signs."""
        assertion = self._assertion(resource, {"sub": login, "act": {"sub": agent_id}})
        fields = {"grant_type": JWT_BEARER, "assertion": assertion, "scope": " ".join(scopes)}
        return _issued(await self._token_request(resource, fields))

    async def refresh(self, resource: Resource, refresh_token: str) -> IssuedToken:
        fields = {"grant_type": "refresh_token", "refresh_token": refresh_token}
        return _issued(await self._token_request(resource, fields))

    def _assertion(self, resource: Resource, claims: dict[str, object]) -> str:
        now = int(self._clock.now())
        standard = {
            "iss": resource.merchant.client_id,
            "aud": resource.merchant.issuer,
            "iat": now,
            "exp": now + ASSERTION_LIFETIME_S,
            "jti": credentials.identifier("assertion"),
        }
        header = {"alg": ALGORITHM, "kid": resource.key.kid}
        return jwt.encode(header, {**standard, **claims}, resource.key, algorithms=[ALGORITHM])

    async def _token_request(self, resource: Resource, fields: dict[str, str]) -> dict[str, object]:
        client_id = resource.merchant.client_id
        authentication = {
            "client_id": client_id,
            "client_assertion_type": CLIENT_ASSERTION_TYPE,
            "client_assertion": self._assertion(resource, {"sub": client_id}),
        }
        return await self._request(resource, "POST", resource.merchant.token_endpoint, {**fields, **authentication})

    async def _request(self, resource: Resource, method: str, url: str, fields: dict[str, str] | None = None) -> dict[str, object]:
        try:
            async with asyncio.timeout(ANSWER_WITHIN_S):
                status, body = await self._exchange(self._client(resource.merchant.ca_file), method, url, fields)
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, OSError, ssl.SSLError) as error:
            raise MerchantTrouble(type(error).__name__) from error
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            answer = None
        if status == 200 and isinstance(answer, dict):
            return answer
        if status in (400, 401, 403) and isinstance(answer, dict) and answer.get("error") == "invalid_grant":
            raise MerchantRefused("invalid_grant")
        raise MerchantTrouble(f"status {status}")

    @staticmethod
    async def _exchange(client: httpx.AsyncClient, method: str, url: str, fields: dict[str, str] | None) -> tuple[int, bytes]:
        async with client.stream(method, url, data=fields) as response:
            if response.headers.get("content-encoding", "identity") != "identity":
                raise httpx.DecodingError("compressed, though that was not asked for")
            body = bytearray()
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > MAX_ANSWER:
                    raise httpx.DecodingError("too long")
            return response.status_code, bytes(body)

    def _client(self, ca_file: str | None) -> httpx.AsyncClient:
        """A client that trusts the merchant's authority, as it is in the file now."""
        key = (ca_file, Path(ca_file).stat().st_mtime_ns if ca_file else 0)
        if key not in self._clients:
            self._clients[key] = httpx.AsyncClient(
                verify=ssl.create_default_context(cafile=ca_file),
                headers={"Accept": "application/json", "Accept-Encoding": "identity"},
                # A connection that was kept may be closed just when a refresh token is sent on it.
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
                follow_redirects=False,
                trust_env=False,
            )
        return self._clients[key]


def _key_set(document: dict[str, object]) -> KeySet:
    """The keys that can be read; a key set may hold others, of kinds that we do not know."""
    members, keys = document.get("keys"), []
    for member in members if isinstance(members, list) else []:
        try:
            keys.append(_public_key(member))
        except (JoseError, ValueError, TypeError, KeyError):
            continue
    if not keys:
        raise MerchantTrouble("no keys")
    return KeySet(keys)


def _public_key(member: dict[str, object]) -> Key:
    if member.get("kty") == "oct" or member.get("use", "sig") != "sig":
        raise ValueError("not for signatures that others can verify")
    return JWKRegistry.import_key(member)


def _issued(answer: dict[str, object]) -> IssuedToken:
    access_token, refresh_token = answer.get("access_token"), answer.get("refresh_token")
    lifetime, scope, kind = answer.get("expires_in"), answer.get("scope"), answer.get("token_type", "Bearer")
    if not _is_token(access_token) or not isinstance(kind, str) or kind.lower() != "bearer":
        raise MerchantTrouble("no access token")
    return IssuedToken(
        access_token=access_token,
        refresh_token=refresh_token if _is_token(refresh_token) else None,
        lifetime_s=lifetime if _is_number(lifetime) and lifetime > 0 else None,
        scopes=scope.split() if isinstance(scope, str) else None,
    )


def _is_token(value: object) -> bool:
    return isinstance(value, str) and value != "" and all("!" <= character <= "~" for character in value)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e11


def _is_list_of_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(member, str) for member in value)
