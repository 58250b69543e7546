"""Other legal ways for a service to deal with parties that fail."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable
from dataclasses import replace

import httpx

from gateproof.reference.defects.service.cached_users import readied
from gateproof.reference.defects.service.left_callers import stops_with_its_caller
from gateproof.reference.defects.service.proxy_token_lifetime import for_fifty_minutes
from gateproof.reference.defects.service.shared_flights import sharing
from gateproof.reference.service.policy import redemption
from gateproof.reference.service.policy.keys import Known
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.upstream import Patience, transport
from gateproof.reference.service.wire import Answer
from gateproof.reference.variants.variant import variant

FAILURES_IN_A_ROW = 3
OPEN_S = 3.0
GATEWAY_S = 1.0
LONG = Patience(tries=1, answer_s=600)


class _Circuits(httpx.AsyncBaseTransport):
    """Whoever fails three times in a row is not asked for a while."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner
        self._failed: dict[str, int] = {}
        self._open_until: dict[str, float] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        party = request.url.netloc.decode()
        if time.monotonic() < self._open_until.get(party, 0.0):
            raise httpx.ConnectError("open circuit", request=request)
        failed = True
        try:
            response = await self._inner.handle_async_request(request)
            failed = response.status_code >= 500
        finally:
            # What was waited for too long is cancelled, and comes by here as well.
            self._failed[party] = self._failed.get(party, 0) + 1 if failed else 0
            if self._failed[party] >= FAILURES_IN_A_ROW:
                self._open_until[party] = time.monotonic() + OPEN_S
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Blocking(httpx.AsyncBaseTransport):
    """A client that nobody can do anything beside, in a server that has one thread."""

    def __init__(self, trust: ssl.SSLContext) -> None:
        self._line = httpx.HTTPTransport(verify=trust)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = self._line.handle_request(request)
        body = b"".join(answer.iter_raw())
        return httpx.Response(answer.status_code, headers=answer.headers, content=body)


class _WaitingForOrders(httpx.AsyncBaseTransport):
    """The gateway is given a second; the merchant's API has the time that it wants."""

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
    return _Circuits(transport(trust))


def _asking_when_told(trust: ssl.SSLContext) -> httpx.AsyncBaseTransport:
    return _Told(transport(trust))


class _Told(httpx.AsyncBaseTransport):
    """Whoever says when to come again is not asked before."""

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
            self._not_before[party] = time.monotonic() + int(later_s)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


def _tried_just_now(before: Known | None) -> Known | None:
    """An attempt that failed counts like one that did not: the next one is due as much later."""
    return replace(before, fetched_at=time.time()) if before is not None else None


def _until_authorized_again() -> Callable[[CallFacts, Answer], str | None]:
    """Whom redemption refused has no use for a token of before: the next one is issued later than that."""
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
        "redemptions-shared: calls with one token at the same time wait for one redemption, which is "
        "finished when the caller who made it leaves",
        around=stops_with_its_caller,
        transport=sharing(detached=True),
    ),
    variant(
        "calls-stop-with-their-caller: a call is cancelled when the connection of its caller ends",
        around=stops_with_its_caller,
    ),
    variant(
        "refused-proxy-token-replaced-seldom: the Proxy token is kept for fifty minutes, and a refused one "
        "replaced once in five minutes at most",
        proxy_token_kept=for_fifty_minutes,
        may_force=lambda since_last_s: since_last_s >= 300,
        # Who does not mend a refusal at all has to go by the lifetime.
        mends=redemption.may_be_the_proxy_token,
    ),
    variant(
        "refused-until-authorized-again: whom redemption refused is served by tokens that were issued after "
        "that",
        merchant_token_in=_until_authorized_again(),
    ),
    variant(
        "circuit-open-for-a-while: a party that failed three times in a row is not asked for three seconds",
        transport=_with_circuits,
    ),
    variant(
        "asked-no-more-until-told: a party that fails and says when to come again is not asked before, and "
        "callers do not wait for it",
        transport=_asking_when_told,
    ),
    variant(
        "nothing-beside-a-call: while the service waits for gateway or merchant, nothing else happens in it",
        transport=_Blocking,
    ),
    variant(
        "merchant-waited-for-without-end: the gateway has a second for each answer, and the merchant's API "
        "has no limit",
        transport=_waiting_for_orders,
        patience=LONG,
        patience_for_keys=LONG,
        deadline_s=600,
    ),
    variant(
        "proxy-token-got-beforehand-by-its-lifetime-alone: the Proxy token is there before the first call, "
        "and used until its time is over",
        around=readied,
        mends=lambda _answer: False,
    ),
    variant(
        "keys-after-a-while-at-most: keys are asked for once in forty seconds at most, and an attempt that "
        "failed counts",
        keys_again_after_s=40,
        keys_while_out_of_reach=_tried_just_now,
    ),
)
