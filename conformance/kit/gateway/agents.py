"""Agents that register at the gateway."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from gateproof.conformance.kit.gateway.gateway import CALLBACK, Gateway
from gateproof.conformance.kit.gateway.worker_state import WorkerState
from gateproof.conformance.suite.claims import LeftOut, require, values_of_choice
from gateproof.conformance.suite.parties import Agent
from gateproof.conformance.wire import agent as agent_wire
from gateproof.conformance.wire.exchange import Exchange

AGENT_DOMAIN = "agent.example"
AGENT_NAME = "Gateproof test agent"
_USUAL_URI = re.compile(r"https://agent\.example/[a-z]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Agents:
    """Registers agents; requires that a valid registration succeeds."""

    gateway: Gateway
    worker_state: WorkerState

    def metadata(
        self, *, redirect_uris: Iterable[str] = (CALLBACK,), auth_method: str = "client_secret_post"
    ) -> dict[str, Any]:
        """The metadata of a valid registration."""
        return agent_wire.agent_metadata(
            name=AGENT_NAME, redirect_uris=redirect_uris, auth_method=auth_method
        )

    def new(self, *redirect_uris: str) -> Agent:
        """An agent that has just registered."""
        return self.of(self.gateway.register(self.metadata(redirect_uris=redirect_uris or (CALLBACK,))))

    def new_if_accepted(self, *redirect_uris: str) -> Agent:
        """An agent with HTTPS redirect URIs that a gateway may refuse: LeftOut if it does."""
        registered = self.gateway.register(self.metadata(redirect_uris=redirect_uris))
        if registered.status in range(400, 500):
            raise LeftOut(f"the gateway does not accept the redirect URIs {', '.join(redirect_uris)}")
        return self.of(registered)

    def of(self, registered: Exchange) -> Agent:
        """The agent that a registration created."""
        client_id, client_secret = self._members(registered, "client_id", "client_secret")
        sent = json.loads(registered.request.body)
        return Agent(
            client_id=client_id,
            client_secret=self.gateway.keyring.secret("client_secret", client_secret),
            redirect_uris=tuple(sent["redirect_uris"]),
        )

    def accepted(self, registered: Exchange) -> Exchange:
        """Requires that the registration created a client; REG-01 tests the status."""
        self._members(registered, "client_id")
        return registered

    def within_limits(self, registered: Exchange) -> Exchange:
        """The answer to a usual registration; LeftOut if the gateway limits the number of agents.

        Then it refuses another registration, too.
        """
        is_at_a_limit = self.worker_state.is_at_a_limit
        if is_at_a_limit(registered) and is_at_a_limit(self.gateway.register(self.metadata())):
            raise LeftOut("the gateway limits the number of registrations")
        return registered

    def _members(self, registered: Exchange, *names: str) -> list[str]:
        """Members of the response. If the metadata was the usual one, a refusal is the gateway's failure."""
        usual = self._is_usual(json.loads(registered.request.body))
        if usual:
            self.within_limits(registered)
        with nullcontext() if usual else values_of_choice():
            require(require(registered).status(200, 201)).json_object()
            step = require.step_of("registration")
            members = [step.text(registered.member(name), f"{name} of the registration") for name in names]
        self.worker_state.registrations += usual
        return members

    def _is_usual(self, sent: dict[str, Any]) -> bool:
        uris = sent["redirect_uris"]
        return sent == self.metadata(redirect_uris=uris) and all(map(_USUAL_URI.fullmatch, uris))
