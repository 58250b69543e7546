"""The nine steps of the specification's sequence, one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from gateproof.reference.agent.wire import Failed
from gateproof.reference.playground.agent_steps import Agent
from gateproof.reference.playground.service_steps import Service
from gateproof.reference.playground.walk import Halted, Walk

USERS_STEP, SERVICES_STEP = 5, 7
Move: TypeAlias = Callable[[Walk], Awaitable[None]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """The title and description of a step."""

    title: str
    what: str


STEPS = (
    Step(title="The agent calls the service", what="It has no token, and the service says where to begin."),
    Step(title="The agent reads the service's metadata", what="They name the authorization server."),
    Step(title="The agent reads the gateway's discovery document", what="It names every endpoint."),
    Step(title="The agent registers", what="It gets a client ID and a secret of its own."),
    Step(title="The user signs in and approves", what="At the gateway, in this browser, by a link."),
    Step(
        title="The agent exchanges the code and calls again",
        what="It gets its tokens, and calls the service with the gateway access token.",
    ),
    Step(
        title="The service gets a Proxy token", what="With its Proxy client, at the gateway's token endpoint."
    ),
    Step(
        title="The service redeems",
        what="Gateway access token, Proxy token and Resource indicator for the merchant token.",
    ),
    Step(title="The service calls the merchant", what="And answers the agent's call with what it got."),
)


@dataclass(frozen=True, kw_only=True)
class Guide:
    """Runs the steps of walks. A second click on the same step waits and does nothing."""

    agent: Agent
    service: Service
    _locks: dict[str, asyncio.Lock] = field(default_factory=dict)

    async def go_on(self, walk: Walk, step: int) -> None:
        """Runs this step, if it is the next one and not the user's step."""
        moves: dict[int, Move] = {
            1: self.agent.calls_without_a_token,
            2: self.agent.reads_the_metadata,
            3: self.agent.reads_the_discovery_document,
            4: self.agent.registers,
            6: self.agent.exchanges_and_calls_again,
            7: self.service.gets_a_proxy_token,
            8: self.service.redeems,
            9: self.service.calls_the_merchant,
        }
        async with self._locks.setdefault(walk.name, asyncio.Lock()):
            if walk.next_step != step or step not in moves:
                return
            with _halting(walk):
                await moves[step](walk)
                walk.done = step
            if walk.next_step == USERS_STEP:
                self.agent.prepares_the_authorization(walk)

    def ask_the_user_again(self, walk: Walk) -> None:
        """Restarts at the authorization request, with the registered agent."""
        if walk.client is not None and walk.done in (USERS_STEP - 1, USERS_STEP):
            walk.halted, walk.done = None, USERS_STEP - 1
            walk.forget(USERS_STEP)
            self.agent.prepares_the_authorization(walk)

    def redeem_again(self, walk: Walk) -> None:
        """Repeats the service's steps, for example after a change in the Console."""
        if walk.accepted and walk.done >= SERVICES_STEP - 1:
            walk.halted, walk.done = None, SERVICES_STEP - 1
            walk.forget(SERVICES_STEP)

    def come_back(self, walk: Walk, query: dict[str, str]) -> None:
        """Processes the redirect to the agent."""
        with _halting(walk):
            self.agent.takes_the_redirect(walk, query)
            walk.done = USERS_STEP

    def forget(self, walk: Walk) -> None:
        walk.leave()
        self._locks.pop(walk.name, None)


@contextmanager
def _halting(walk: Walk) -> Iterator[None]:
    """Records the reason in the walk if a step fails."""
    try:
        yield
    except (Halted, Failed) as reason:
        walk.halted = str(reason)
