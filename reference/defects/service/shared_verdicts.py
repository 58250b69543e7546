"""Services in which concurrent calls share what the service found out about one of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from starlette.types import ASGIApp

from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy import redemption
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.wire import Answer, Asked, Outcome

# The duration of the verification of a signature.
VERIFIED_AFTER_S = 0.02
Refused = Callable[[str], bool]


def current_verdict(kinds: frozenset[str]) -> Callable[[ASGIApp, Backend], ASGIApp]:
    """`this.auth = null; try { this.auth = await verify(token) } catch {}` in a shared guard."""

    def around(app: ASGIApp, backend: Backend) -> ASGIApp:
        honest = backend.call_of
        auth: list[CallFacts] = []

        async def call_of(asked: Asked) -> CallFacts | Outcome:
            auth.clear()
            found = await honest(asked)
            if isinstance(found, CallFacts):
                auth[:] = [found]
            await asyncio.sleep(VERIFIED_AFTER_S)
            if isinstance(found, Outcome) and found.kind in kinds and auth:
                presented = backend.policies.presented_token(asked)
                return replace(auth[0], asked=asked, token=presented or auth[0].token)
            return found

        backend.call_of = call_of  # type: ignore[method-assign]
        return app

    return around


def redemptions_by_subject(app: ASGIApp, backend: Backend) -> ASGIApp:
    """`group.Do(claims.Sub, redeem)`: calls with the same `sub` share a redemption that is running."""
    honest: Callable[[CallFacts], Awaitable[CallFacts | Outcome]] = backend._redeemed  # noqa: SLF001
    flights: dict[str, asyncio.Task[CallFacts | Outcome]] = {}

    async def redeemed(call: CallFacts) -> CallFacts | Outcome:
        subject = str(call.claims.get("sub"))
        flight = flights.get(subject)
        if flight is None:
            flight = flights[subject] = asyncio.ensure_future(honest(call))
            flight.add_done_callback(lambda _: flights.pop(subject, None))
        found = await asyncio.shield(flight)
        return replace(call, merchant_token=found.merchant_token) if isinstance(found, CallFacts) else found

    backend._redeemed = redeemed  # type: ignore[method-assign]  # noqa: SLF001
    return app


def last_list_in_place_of_an_empty_one() -> Callable[[CallFacts, Answer], list[Any] | None]:
    """`orders = body["orders"] or self.last_orders`."""
    last: list[list[Any]] = [[]]

    def orders_in(facts: CallFacts, answer: Answer) -> list[Any] | None:
        orders = redemption.orders_in(facts, answer)
        if orders is not None:
            last[0] = orders or last[0]
            return last[0]
        return orders

    return orders_in


DEFECTS = (
    defect(
        "verdict-in-one-place (CHAL-01 CHAL-04 CHAL-06 CHAL-07): While a call with a good token is verified, "
        "a call without a good one takes over its result.",
        around=current_verdict(frozenset({"no token", "not accepted"})),
    ),
    defect(
        "verdict-in-one-place-for-tokens (CHAL-04 CHAL-06 CHAL-07): While a call with a good token is "
        "verified, a call with a bad one takes over its result.",
        around=current_verdict(frozenset({"not accepted"})),
    ),
    defect(
        "redemption-shared-by-subject (BACK-08): Calls with the same sub share a redemption, also if their "
        "tokens are of different Projects.",
        around=redemptions_by_subject,
    ),
    defect(
        "last-orders-in-place-of-none (BACK-10): A user without orders gets those of the last call.",
        orders_in=last_list_in_place_of_an_empty_one(),
    ),
)
