"""Outcomes of token requests, and the table in which they are registered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from starlette.responses import Response

from gateproof.fakes.merchant.gates import Gates
from gateproof.fakes.merchant.script import Answer, Takes
from gateproof.fakes.merchant.shape import Shape


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One token request, for which a script selected an outcome.

    `carry_out(rotate)` runs the grant and returns its honest answer. `withdraw` revokes the refresh token of
    the request, if there is one. `gone` returns when the caller has closed the connection. `sent` is the
    refresh token or assertion of the request.
    """

    answer: Answer
    shape: Shape
    gates: Gates
    carry_out: Callable[[bool], Response]
    gone: Callable[[], Awaitable[None]]
    withdraw: Callable[[], None]
    sent: str = field(repr=False, default="")

    async def wait(self, seconds: float, opened: asyncio.Event | None = None) -> None:
        """Waits until the time is over, the caller disconnects, or the gate opens."""
        watched: list[asyncio.Future[Any]] = [asyncio.ensure_future(self.gone())]
        if opened is not None:
            watched.append(asyncio.ensure_future(opened.wait()))
        try:
            await asyncio.wait(watched, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in watched:
                task.cancel()


Outcome: TypeAlias = Callable[[Call], Awaitable[Response]]
OUTCOMES: dict[str, Outcome] = {}
PARAMETERS: dict[str, Takes] = {}


def outcome(*, required: str = "", optional: str = "") -> Callable[[Outcome], Outcome]:
    """Registers a function as an outcome under its own name."""

    def register(function: Outcome) -> Outcome:
        name = getattr(function, "__name__", "")
        OUTCOMES[name] = function
        PARAMETERS[name] = Takes(required=frozenset(required.split()), optional=frozenset(optional.split()))
        return function

    return register
