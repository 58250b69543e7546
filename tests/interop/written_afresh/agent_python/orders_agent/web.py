"""HTTP as this agent speaks it: https only, verified, no redirects, no cookies of others, limits on time and size."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2

from .errors import Unreachable

SECONDS_A_REQUEST = 10.0
MAX_BODY = 1_000_000


@dataclass(frozen=True)
class Answer:
    status: int
    headers: httpx2.Headers
    body: bytes

    def json_object(self) -> dict[str, Any]:
        try:
            value = json.loads(self.body)
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}


def is_https(address: object) -> bool:
    if not isinstance(address, str):
        return False
    try:
        parts = urlsplit(address)
        return parts.scheme == "https" and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def origin(address: str) -> tuple[str, str | None, int]:
    parts = urlsplit(address)
    return parts.scheme, parts.hostname, parts.port or 443


async def _https_only(request: httpx2.Request) -> None:
    if request.url.scheme != "https":
        raise httpx2.UnsupportedProtocol("only https is spoken", request=request)


def client_options(ca_file: str | None) -> dict[str, Any]:
    """What every HTTP client of this agent has in common, the OAuth library's included."""
    return {
        "verify": ssl.create_default_context(cafile=ca_file),
        "timeout": SECONDS_A_REQUEST,
        "follow_redirects": False,
        "trust_env": False,
        "event_hooks": {"request": [_https_only]},
    }


class Web:
    def __init__(self, ca_file: str | None) -> None:
        self.options = client_options(ca_file)

    async def request(self, party: str, method: str, url: str, headers: Mapping[str, str] | None = None, **content: Any) -> Answer:
        """One request on a client of its own, so that nothing of one party is carried to another."""
        try:
            async with asyncio.timeout(SECONDS_A_REQUEST), httpx2.AsyncClient(**self.options) as client:
                async with client.stream(method, url, headers=headers, **content) as response:
                    body = bytearray()
                    async for piece in response.aiter_bytes(65536):
                        body += piece
                        if len(body) > MAX_BODY:
                            raise Unreachable(f"The {party} sends too much.")
                    return Answer(response.status_code, response.headers, bytes(body))
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, ValueError) as error:
            raise Unreachable(f"The {party} cannot be reached ({type(error).__name__}).") from None

    async def document(self, name: str, url: str) -> dict[str, Any]:
        if not is_https(url):
            raise Unreachable(f"The {name} is not at an https address.")
        answer = await self.request(name, "GET", url, {"Accept": "application/json"})
        if answer.status != 200:
            raise Unreachable(f"The {name} is not there (status {answer.status}).")
        return answer.json_object()
