"""Services of several processes, each with a Proxy token of its own."""

from __future__ import annotations

import copy
import itertools
import random
import ssl
from contextvars import ContextVar
from typing import Any

import httpx
from starlette.types import ASGIApp

from gateproof.reference.deviations.circuits import Circuits
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.gateway import Gateway
from gateproof.reference.service.policy import proxy, redemption
from gateproof.reference.service.policy.keys import Known
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.upstream import transport
from gateproof.reference.service.wire import Answer, Outgoing
from gateproof.reference.variants.variant import variant

WORKERS = 4
CIRCUIT_OPEN_S = 5.0
# The worker that serves a call.
_WORKER: ContextVar[int] = ContextVar("worker", default=0)


def dropped_when_refused() -> dict[str, Any]:
    """A call whose Proxy token is refused fails; the worker's next call gets another token."""
    used: ContextVar[str] = ContextVar("used", default="")
    refused: set[str] = set()

    def asked(facts: CallFacts) -> Outgoing:
        used.set(facts.proxy_token)
        return redemption.redemption_request(facts)

    def never_again(answer: Answer) -> bool:
        refused.update([used.get()] if answer.status == 401 else [])
        return False

    def due(token: proxy.ProxyToken, now: float) -> bool:
        return token.value in refused or proxy.is_due(token, now)

    return {"redemption_request": asked, "warrants_new_proxy_token": never_again, "proxy_token_is_due": due}


class _AnyOf:
    """Several caches of the gateway's keys, as several processes have them; a call meets any of them."""

    def __init__(self, known: Gateway) -> None:
        self._caches = [copy.copy(known) for _ in range(WORKERS)]

    async def known(self, max_age_s: float) -> Known:
        return await random.choice(self._caches).known(max_age_s)  # noqa: S311 - no secret


def keys_by_worker(app: ASGIApp, backend: Backend) -> ASGIApp:
    known = backend._gateway  # noqa: SLF001 - no policy decides this
    backend._gateway = _AnyOf(known)  # type: ignore[assignment]  # noqa: SLF001
    return app


class _CircuitsOfWorkers(httpx.AsyncBaseTransport):
    """Each worker has circuit breakers of its own, which one failure opens."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner
        self._circuits = [Circuits(inner, failures=1, open_s=CIRCUIT_OPEN_S) for _ in range(WORKERS)]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await self._circuits[_WORKER.get()].handle_async_request(request)

    async def aclose(self) -> None:
        await self._inner.aclose()


def circuits_by_worker() -> dict[str, Any]:
    """The workers serve the calls in turn, each with its own Proxy token."""
    turns = itertools.cycle(range(WORKERS))

    def next_worker() -> int:
        _WORKER.set(next(turns))
        return _WORKER.get()

    def with_circuits(trust: ssl.SSLContext) -> httpx.AsyncBaseTransport:
        return _CircuitsOfWorkers(transport(trust))

    return {"proxy_slot": next_worker, "transport": with_circuits}


VARIANTS = (
    variant(
        "workers-with-circuit-breakers: any of four workers serves a call, each with a Proxy token and a "
        "circuit breaker of its own; one failure of a party opens the breaker for five seconds",
        **circuits_by_worker(),
    ),
    variant(
        "workers-with-keys-of-their-own: any of four workers serves a call, each with a key set of its own "
        "that it does not fetch again for some seconds",
        keys_again_after_s=6,
        around=keys_by_worker,
    ),
    variant(
        "workers-that-drop-a-refused-token: any of four workers, each with a Proxy token of its own, serves "
        "a call; if the token is refused, the call fails, and the worker's next call gets another token",
        proxy_slot=lambda: random.randrange(WORKERS),  # noqa: S311 - no secret
        **dropped_when_refused(),
    ),
)
