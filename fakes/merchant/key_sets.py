"""Cache of the gateway's per-Resource JWKS; a set is fetched again if no key fits a signature."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from gateproof.fakes.merchant.config import TargetAccess

# At most three fetches a second, so that bad assertions cannot flood the gateway.
PAUSE_S = 0.34
FETCH_TIMEOUT_S = 5.0
_KEY_SETS = "application/jwk-set+json, application/json, */*;q=0.5"
LARGEST_SET = 256 * 1024
PUBLIC_MEMBERS = frozenset({"kty", "crv", "n", "e", "x", "y", "kid", "alg", "use"})


class KeysUnreachableError(Exception):
    """The JWKS could not be fetched; the text has the reason."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PublicKey:
    """One key of a JWKS, with its public members only."""

    kid: str | None
    kty: str
    crv: str | None
    alg: str | None
    jwk: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Fetched:
    """A key set, and the time at which its fetch started."""

    keys: tuple[PublicKey, ...]
    asked_at: float


class KeySets:
    """Key sets by URL."""

    def __init__(self, http: httpx.AsyncClient, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._http = http
        self._monotonic = monotonic
        self._sets: dict[str, Fetched] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._last_try: dict[str, float] = {}
        self._warming: set[asyncio.Task[None]] = set()

    def now(self) -> float:
        return self._monotonic()

    def kept(self, uri: str) -> tuple[PublicKey, ...]:
        """The cached keys, without a fetch."""
        fetched = self._sets.get(uri)
        return fetched.keys if fetched else ()

    async def known(self, uri: str) -> tuple[PublicKey, ...]:
        return self.kept(uri) if uri in self._sets else await self.fresh(uri, since=0)

    async def fresh(self, uri: str, *, since: float) -> tuple[PublicKey, ...]:
        """A set whose fetch started after `since`, so that it has every key published before."""
        async with self._locks[uri]:
            fetched = self._sets.get(uri)
            if fetched is not None and fetched.asked_at >= since:
                return fetched.keys
            pause = self._last_try.get(uri, -PAUSE_S) + PAUSE_S - self._monotonic()
            if pause > 0:
                await asyncio.sleep(pause)
            asked_at = self._last_try[uri] = self._monotonic()
            self._sets[uri] = Fetched(keys=await self._fetch(uri), asked_at=asked_at)
            return self._sets[uri].keys

    def warm(self, uri: str) -> None:
        """Fetches early: a gateway that handles one request at a time cannot serve keys while it calls us."""
        task = asyncio.get_running_loop().create_task(self._warm(uri))
        self._warming.add(task)
        task.add_done_callback(self._warming.discard)

    async def _warm(self, uri: str) -> None:
        try:
            await self.known(uri)
        except KeysUnreachableError:
            self._last_try.pop(uri, None)

    async def _fetch(self, uri: str) -> tuple[PublicKey, ...]:
        try:
            async with (
                asyncio.timeout(FETCH_TIMEOUT_S),
                self._http.stream("GET", uri, headers={"accept": _KEY_SETS}) as answer,
            ):
                if answer.status_code != 200:
                    raise KeysUnreachableError(f"the JWKS answered {answer.status_code}")
                body = bytearray()
                async for chunk in answer.aiter_bytes():
                    body += chunk
                    if len(body) > LARGEST_SET:
                        raise KeysUnreachableError("the JWKS is larger than 256 kB")
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, OSError) as error:
            raise KeysUnreachableError(f"the JWKS is out of reach: {type(error).__name__}") from None
        return _parse(bytes(body))


def http_client(target: TargetAccess) -> httpx.AsyncClient:
    """A client with the trusted CA; the target's own origins get the client certificate and headers."""
    tls, own = _trusting(target.ca_file), _trusting(target.ca_file)
    if target.client_cert_file is not None:
        own.load_cert_chain(target.client_cert_file, target.client_key_file)
    transport = _Transport(
        httpx.AsyncHTTPTransport(verify=own, trust_env=False),
        httpx.AsyncHTTPTransport(verify=tls, trust_env=False),
        target,
    )
    return httpx.AsyncClient(
        transport=transport, timeout=FETCH_TIMEOUT_S, trust_env=False, follow_redirects=False
    )


def _trusting(ca_file: Path | None) -> ssl.SSLContext:
    """A gateway's certificate may lack the Authority Key Identifier, which Python 3.13 demands by default."""
    context = ssl.create_default_context(cafile=ca_file)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


class _Transport(httpx.AsyncBaseTransport):
    """Sends requests to the target by one transport, and others by another."""

    def __init__(
        self, own: httpx.AsyncHTTPTransport, other: httpx.AsyncHTTPTransport, target: TargetAccess
    ) -> None:
        self._own, self._other = own, other
        self._target = target

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        origin = f"{url.scheme}://{url.host}:{url.port or {'https': 443, 'http': 80}.get(url.scheme)}"
        if self._target.origins and origin not in self._target.origins:
            return await self._other.handle_async_request(request)
        request.headers.update(self._target.headers)
        return await self._own.handle_async_request(request)

    async def aclose(self) -> None:
        await self._own.aclose()
        await self._other.aclose()


def _parse(body: bytes) -> tuple[PublicKey, ...]:
    try:
        found = json.loads(body)
    except ValueError:
        raise KeysUnreachableError("the JWKS is not JSON") from None
    keys = found.get("keys") if isinstance(found, dict) else None
    if not isinstance(keys, list):
        raise KeysUnreachableError("the JWKS has no list of keys")
    return tuple(_key(jwk) for jwk in keys if isinstance(jwk, dict) and jwk.get("use", "sig") == "sig")


def _key(jwk: dict[str, Any]) -> PublicKey:
    public = {name: value for name, value in jwk.items() if name in PUBLIC_MEMBERS and isinstance(value, str)}
    return PublicKey(
        kid=public.get("kid"),
        kty=public.get("kty", ""),
        crv=public.get("crv"),
        alg=public.get("alg"),
        jwk=json.dumps(public, sort_keys=True),
    )
