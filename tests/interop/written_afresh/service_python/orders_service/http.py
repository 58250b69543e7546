"""Requests to gateway and merchant: verified TLS, no redirects, limits on time, size and tries."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpx

from .errors import BackendError
from .logs import log

TRIES = 3
SECONDS_A_TRY = 5.0
PAUSE_S = 0.2
MAX_BODY = 1_000_000
RETRIED = frozenset({500, 502, 503, 504})


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes

    def json_object(self) -> dict[str, Any]:
        """The body as a JSON object, or an empty one where it is none."""
        try:
            value = json.loads(self.body)
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}


def new_client(ca_file: str | None) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        verify=ssl.create_default_context(cafile=ca_file),
        timeout=httpx.Timeout(SECONDS_A_TRY, connect=3.0),
        follow_redirects=False,
        trust_env=False,  # no proxy and no .netrc decides where credentials go
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # a cookie of one user's call never meets another's
    )


async def request(
    client: httpx.AsyncClient,
    party: str,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    tries: int = TRIES,
    **content: Any,
) -> Answer:
    """Send a request that may be repeated safely, and return the last answer that came."""
    for attempt in range(1, tries + 1):
        answer = await _once(client, party, method, url, headers, content)
        if answer is not None and answer.status not in RETRIED:
            return answer
        if attempt < tries:
            await asyncio.sleep(PAUSE_S * 2 ** (attempt - 1) * random.uniform(0.5, 1.5))
    if answer is None:
        raise BackendError
    return answer


async def _once(
    client: httpx.AsyncClient,
    party: str,
    method: str,
    url: str,
    headers: Mapping[str, str] | None,
    content: Mapping[str, Any],
) -> Answer | None:
    try:
        # The client's own time-outs are for each read; this one is for the whole answer.
        async with asyncio.timeout(SECONDS_A_TRY):
            async with client.stream(method, url, headers=headers, **content) as response:
                body = bytearray()
                async for piece in response.aiter_bytes(65536):
                    body += piece
                    if len(body) > MAX_BODY:
                        log(logging.WARNING, "answer_too_large", party=party)
                        return None
                if response.status_code in RETRIED:
                    log(logging.WARNING, "party_failed", party=party, status=response.status_code)
                return Answer(response.status_code, bytes(body))
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, ValueError) as error:
        log(logging.WARNING, "party_unreachable", party=party, error=type(error).__name__)
        return None
