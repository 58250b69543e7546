"""The HTTP client for gateway and merchant: limited in time, tries and size, without redirects."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from gateproof.reference.service.wire import Answer, Failure, Outgoing

MOST_OCTETS = 1024 * 1024
MOST_HOPS = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Patience:
    """The number of tries, the pause between them, and the time limit for an answer."""

    tries: int = 2
    pause_s: float = 0.05
    answer_s: float = 3.0


def transport(trust: ssl.SSLContext) -> httpx.AsyncBaseTransport:
    """Verifies the certificates of all parties."""
    return httpx.AsyncHTTPTransport(verify=trust)


class Unavailable(Exception):
    """A needed party gives no usable answer; the text contains no credentials."""

    def __init__(self, trouble: Failure | None = None) -> None:
        super().__init__("unavailable")
        self.trouble = trouble


class Upstream:
    """Sends requests, and retries temporary failures."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        patience: Patience,
        worth_another_try: Callable[[Answer | None], bool],
        followed: Callable[[Outgoing, Answer], Outgoing | None],
    ) -> None:
        self._client = client
        self._patience = patience
        self._worth_another_try = worth_another_try
        self._followed = followed

    async def ask(self, asked: Outgoing) -> Answer:
        """A usable answer; raises Unavailable after a limited number of tries."""
        answer: Answer | None = None
        for attempt in range(self._patience.tries):
            if attempt:
                await asyncio.sleep(self._patience.pause_s * attempt)
            answer = await self._once(asked)
            if not self._worth_another_try(answer):
                break
        if answer is None or self._worth_another_try(answer):
            raise Unavailable(Failure(asked=asked, answer=answer))
        return answer

    async def get(self, url: Any) -> dict[str, Any]:
        """A public JSON document."""
        if not isinstance(url, str):
            raise Unavailable
        return (await self.ask(Outgoing(method="GET", url=url))).document

    async def _once(self, asked: Outgoing) -> Answer | None:
        """The answer to one try; None without an answer, or if it is too long."""
        for _ in range(MOST_HOPS):
            try:
                async with asyncio.timeout(self._patience.answer_s):
                    answer = await self._sent(asked)
            except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, TimeoutError):
                return None
            further = self._followed(asked, answer) if answer is not None else None
            if further is None:
                return answer
            asked = further
        return None

    async def _sent(self, asked: Outgoing) -> Answer | None:
        request = {"headers": dict(asked.headers), "content": asked.body or None}
        async with self._client.stream(asked.method, asked.url, **request) as response:  # type: ignore[arg-type]
            raw = await _read(response)
        if raw is None:
            return None
        return Answer(
            status=response.status_code,
            document=_document(raw),
            text=raw.decode("utf-8", "replace"),
            headers=dict(response.headers),
        )


def is_retryable(answer: Answer | None) -> bool:
    """True for no answer, a 5xx status, or 429."""
    return answer is None or answer.status >= 500 or answer.status == 429


def followed(_asked: Outgoing, _answer: Answer) -> Outgoing | None:
    """The next request after a redirect: none, because a request is meant for one party only."""
    return None


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
