"""Services that retry or wait without limit during a call."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import replace
from typing import Any

import httpx
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.defects.service.failing_parties import for_the_merchant
from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy.answers import answer_of
from gateproof.reference.service.upstream import Patience, transport
from gateproof.reference.service.wire import Outcome, Reply

TRIES = 3
ANSWER_S = 1.0
# An internal status that no agent sees: the request is made again.
ONCE_MORE = 598


class _WaitingForRetryAfter(httpx.AsyncBaseTransport):
    """Waits as long as Retry-After says, while the caller waits too."""

    def __init__(self, trust: ssl.SSLContext) -> None:
        self._inner = transport(trust)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        for _ in range(TRIES):
            async with asyncio.timeout(ANSWER_S):
                response = await self._inner.handle_async_request(request)
                await response.aread()
            later_s = response.headers.get("retry-after", "")
            if response.status_code != 503 or not later_s.isdigit():
                break
            await asyncio.sleep(int(later_s))
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


def renewed_without_end() -> dict[str, Any]:
    """`if (r.status === 401) return callMerchant(await redeem(token))`."""

    def answer(outcome: Outcome) -> Reply:
        reply, trouble = answer_of(outcome), outcome.trouble
        refused = (
            trouble is not None
            and for_the_merchant(trouble.asked)
            and trouble.answer is not None
            and trouble.answer.status == 401
        )
        return replace(reply, status=ONCE_MORE) if refused else reply

    def around(app: ASGIApp, _backend: Backend) -> ASGIApp:
        async def repeating(scope: Scope, receive: Receive, send: Send) -> None:
            asked = await _whole(receive)

            async def again() -> Message:
                return asked

            while True:
                said: list[Message] = []

                async def keep(message: Message, said: list[Message] = said) -> None:
                    said.append(message)

                await app(dict(scope), again, keep)
                if said[0].get("status") != ONCE_MORE:
                    break
                await asyncio.sleep(0.02)
            for message in said:
                await send(message)

        return repeating

    return {"answer_of": answer, "around": around}


async def _whole(receive: Receive) -> Message:
    """A request with its whole body as one message, or the message that the caller has disconnected."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return message
        body += message.get("body", b"")
        if not message.get("more_body"):
            return {"type": "http.request", "body": bytes(body)}


DEFECTS = (
    defect(
        "waits-as-long-as-it-is-told (BACK-06): If a party answers 503 with Retry-After, the service waits "
        "that long, and its caller with it.",
        transport=_WaitingForRetryAfter,
        patience=Patience(tries=1, answer_s=300),
        deadline_s=600,
    ),
    defect(
        "merchants-refusal-met-by-renewing-without-end (BACK-06): While the merchant answers 401, the "
        "service redeems again and repeats the call without limit.",
        **renewed_without_end(),
    ),
)
