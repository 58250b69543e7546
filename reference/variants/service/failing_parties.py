"""Other legal ways for a service to handle failures of gateway and merchant."""

from __future__ import annotations

import asyncio
import random
import ssl
import time
from collections.abc import Callable
from dataclasses import replace

import httpx

from gateproof.reference.defects.service.cached_users import with_early_proxy_token
from gateproof.reference.defects.service.cancelled_calls import cancelled_on_disconnect
from gateproof.reference.defects.service.proxy_token_lifetime import for_fifty_minutes
from gateproof.reference.defects.service.shared_requests import sharing
from gateproof.reference.deviations.circuits import Circuits
from gateproof.reference.service.policy import redemption
from gateproof.reference.service.policy.keys import Known
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.upstream import Patience, transport
from gateproof.reference.service.wire import Answer
from gateproof.reference.variants.variant import variant

FAILURES_IN_A_ROW, OPEN_S = 3, 3.0
GATEWAY_S = 1.0
LONG = Patience(tries=1, answer_s=600)


class _Blocking(httpx.AsyncBaseTransport):
    """A client that blocks the whole server, as in a server with one thread."""

    def __init__(self, trust: ssl.SSLContext) -> None:
        self._line = httpx.HTTPTransport(verify=trust)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = self._line.handle_request(request)
        body = b"".join(answer.iter_raw())
        return httpx.Response(answer.status_code, headers=answer.headers, content=body)


class _WaitingForOrders(httpx.AsyncBaseTransport):
    """Gives the gateway one second for an answer, and the merchant's API any time."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        of_merchant = request.url.path.endswith("/orders")
        try:
            async with asyncio.timeout(None if of_merchant else GATEWAY_S):
                answer = await self._inner.handle_async_request(request)
                body = b"".join([piece async for piece in answer.aiter_raw()])
        except TimeoutError as late:
            raise httpx.ReadTimeout("no answer", request=request) from late
        return httpx.Response(answer.status_code, headers=answer.headers, content=body)

    async def aclose(self) -> None:
        await self._inner.aclose()


def _waiting_for_orders(trust: ssl.SSLContext) -> httpx.AsyncBaseTransport:
    return _WaitingForOrders(transport(trust))


def _with_circuits(trust: ssl.SSLContext) -> httpx.AsyncBaseTransport:
    return Circuits(transport(trust), failures=FAILURES_IN_A_ROW, open_s=OPEN_S)


def _asking_when_told(trust: ssl.SSLContext) -> httpx.AsyncBaseTransport:
    return _Told(transport(trust))


class _Told(httpx.AsyncBaseTransport):
    """Does not call a party before the time in its Retry-After, and by a random part of it longer."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner
        self._not_before: dict[str, float] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        party = request.url.netloc.decode()
        if time.monotonic() < self._not_before.get(party, 0.0):
            raise httpx.ConnectError("told to come later", request=request)
        response = await self._inner.handle_async_request(request)
        later_s = response.headers.get("retry-after", "")
        if response.status_code == 503 and later_s.isdigit():
            self._not_before[party] = time.monotonic() + int(later_s) * random.uniform(1.0, 1.25)  # noqa: S311
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


def _tried_just_now(before: Known | None) -> Known | None:
    """Counts a failed attempt like a successful one, so that the next one is due later."""
    return replace(before, fetched_at=time.time()) if before is not None else None


def _until_authorized_again() -> Callable[[CallFacts, Answer], str | None]:
    """After a refused redemption, accepts only tokens of the user that were issued later."""
    refused_at: dict[str, float] = {}

    def found(facts: CallFacts, answer: Answer) -> str | None:
        user = str(facts.claims.get("sub"))
        if answer.status in (400, 404, 410):
            refused_at[user] = time.time()
        too_early = user in refused_at and facts.claims.get("iat", 0) <= refused_at[user]
        return None if too_early else redemption.merchant_token_in(facts, answer)

    return found


VARIANTS = (
    variant(
        "redemptions-shared: concurrent calls with one token share one redemption, which continues if the "
        "caller that started it disconnects",
        around=cancelled_on_disconnect,
        transport=sharing(detached=True),
    ),
    variant(
        "calls-stop-with-their-caller: the service cancels a call when its caller disconnects",
        around=cancelled_on_disconnect,
    ),
    variant(
        "refused-proxy-token-replaced-seldom: the service keeps the Proxy token for fifty minutes, and "
        "replaces a refused one at most once in five minutes",
        proxy_token_kept=for_fifty_minutes,
        may_force=lambda since_last_s: since_last_s >= 300,
        # Excludes variants that never replace a refused token: those have to observe the lifetime.
        warrants_new_proxy_token=redemption.may_be_the_proxy_token,
    ),
    variant(
        "refused-until-authorized-again: after a refused redemption, the service accepts only tokens of the "
        "user that were issued later",
        merchant_token_in=_until_authorized_again(),
    ),
    variant(
        "circuit-open-for-a-while: the service does not call a party for three seconds after three failures "
        "in a row",
        transport=_with_circuits,
    ),
    variant(
        "asked-no-more-until-told: the service does not call a party before the time in its Retry-After "
        "and up to a quarter of it longer, and fails calls at once until then",
        transport=_asking_when_told,
    ),
    variant(
        "nothing-beside-a-call: the service does nothing else while it waits for gateway or merchant",
        transport=_Blocking,
    ),
    variant(
        "merchant-waited-for-without-end: the service gives the gateway one second for each answer, and the "
        "merchant's API any time",
        transport=_waiting_for_orders,
        patience=LONG,
        patience_for_keys=LONG,
        deadline_s=600,
    ),
    variant(
        "proxy-token-got-beforehand-by-its-lifetime-alone: the service gets a Proxy token before the first "
        "call, and uses a refused one until it is due for renewal",
        around=with_early_proxy_token,
        warrants_new_proxy_token=lambda _answer: False,
    ),
    variant(
        "keys-after-a-while-at-most: the service fetches the keys again for an unknown key at most every "
        "forty seconds, and counts failed attempts",
        keys_again_after_s=40,
        keys_while_out_of_reach=_tried_just_now,
    ),
)
