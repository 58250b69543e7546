"""Services that continue to retry after they have answered their caller."""

from __future__ import annotations

import asyncio
from typing import Any

from gateproof.reference.defects.service.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.wire import Asked as AskedOf
from gateproof.reference.service.wire import Kind

_PAUSE_S = 0.3
_MOST = 60


def retried_in_background(kind: Kind, status: int) -> dict[str, Any]:
    """`Promise.race([untilItWorks(token), timeout(5000)])`: the loop continues after the race."""
    running: set[asyncio.Task[None]] = set()

    async def again(backend: Backend, call: CallFacts) -> None:
        for _ in range(_MOST):
            await asyncio.sleep(_PAUSE_S)
            if (await backend.orders(call)).kind != kind:
                break

    async def change(asked: Asked, answered: Answered, backend: Backend) -> Answered:
        if answered.status == status and "authorization" in asked.headers:
            headers = tuple(asked.headers.items())
            call = await backend.call_of(AskedOf(method=asked.method, path=asked.path, headers=headers))
            if isinstance(call, CallFacts):
                task = asyncio.ensure_future(again(backend, call))
                running.add(task)
                task.add_done_callback(running.discard)
        return answered

    return {"around": altering_answers(change)}


DEFECTS = (
    defect(
        "failures-retried-behind-the-answer (BACK-06): After it has answered 503, the service retries the "
        "call in the background, up to 60 times.",
        **retried_in_background("unavailable", 503),
    ),
    defect(
        "refusals-retried-behind-the-answer (BACK-07): After redemption has answered 410, the service "
        "answers its caller and repeats the redemption in the background, up to 60 times.",
        **retried_in_background("reauthorize", 401),
    ),
)
