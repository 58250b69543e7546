"""Requests of the service to gateway and merchant: bounded in time, tries and size, and never redirected."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

TRIES = 3
PAUSE_S = 0.2
TIMEOUT = httpx.Timeout(2, connect=2)
MOST_OCTETS = 1024 * 1024


class Unavailable(Exception):
    """A party that is needed gives no answer to work with; the text names nobody's credentials."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A status and what JSON object came with it, if one did."""

    status: int
    document: dict[str, Any] = field(repr=False)


async def ask(
    client: httpx.AsyncClient,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    **body: Any,
) -> Answer:
    """An answer below 500; a party in trouble is asked three times and no more."""
    for attempt in range(TRIES):
        if attempt:
            await asyncio.sleep(PAUSE_S * attempt)
        try:
            async with (
                asyncio.timeout(TIMEOUT.read),
                client.stream(method, url, headers=headers, **body) as response,
            ):
                raw = await _read(response)
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, TimeoutError):
            continue
        if raw is not None and response.status_code < 500 and response.status_code != 429:
            return Answer(status=response.status_code, document=_document(raw))
    raise Unavailable


async def _read(response: httpx.Response) -> bytes | None:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > MOST_OCTETS:
            return None
    return bytes(body)


def _document(raw: bytes) -> dict[str, Any]:
    try:
        document = json.loads(raw.decode())
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
