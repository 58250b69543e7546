"""Everything around the gateway that one check needs, prepared up to the point where the check begins."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from gateproof.conformance.kit.gateway.agents import Agents
from gateproof.conformance.kit.gateway.backend import Backend
from gateproof.conformance.kit.gateway.clock import Clock
from gateproof.conformance.kit.gateway.codes import require_code
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.instance import Instance
from gateproof.conformance.kit.gateway.keys import Keys, discovery_document
from gateproof.conformance.kit.gateway.projects import Projects
from gateproof.conformance.kit.gateway.worker_state import WorkerState
from gateproof.conformance.suite.claims import Unavailable, require
from gateproof.conformance.suite.parties import Agent, Attempt, Authorization, Grant, Resource, User
from gateproof.conformance.targets.control import ControlPlane
from gateproof.conformance.wire import agent as agent_wire
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.jose import Jwt, read
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.merchant.admin import MerchantAdmin


@dataclass(frozen=True, kw_only=True)
class World:
    """Prepares the state that a check needs; each step that the check does not test is a `require`.

    Steps of one party are in `projects`, `agents`, `backend`, `keys` and `clock`. Sign-ins involve several
    parties and are here.
    """

    gateway: Gateway
    projects: Projects
    users: tuple[User, ...]
    extra_scopes: tuple[str, ...]
    control: ControlPlane | None
    merchant: MerchantAdmin | None
    merchant_api: str | None
    merchant_ca_file: str | None
    ca_file: str
    service_certificate: tuple[str, str]
    seen: Callable[[], Sequence[Exchange]]
    clock: Clock
    capabilities: frozenset[str]
    worker_state: WorkerState
    # An instance of the target that no other check uses, so it may be killed.
    instance: Callable[[], Instance[World]]
    code_lifetime_s: float | None = None

    @property
    def agents(self) -> Agents:
        return Agents(gateway=self.gateway, worker_state=self.worker_state)

    @property
    def backend(self) -> Backend:
        return Backend(
            gateway=self.gateway,
            worker_state=self.worker_state,
            home=self.projects.home,
            sign_in_again=self._sign_in_again,
            merchant_api=self.merchant_api,
        )

    @property
    def keys(self) -> Keys:
        return Keys(
            gateway=self.gateway,
            worker_state=self.worker_state,
            home=self.projects.home,
            control=self.control,
        )

    def in_one_browser(self) -> World:
        """The same world, but all visits use one browser that stays signed in: later sign-ins are short."""
        return replace(self, gateway=self.gateway.in_one_browser())

    def unique(self) -> str:
        return f"g{secrets.token_hex(6)}"

    def attempt(
        self,
        agent: Agent | None = None,
        *,
        resource: Resource | None = None,
        user: User | None = None,
        state: str | None = None,
        redirect_uri: str | None = None,
        verifier: str | None = None,
    ) -> Attempt:
        """A valid authorization request, with a new verifier unless one is given."""
        agent, resource = agent or self.agents.new(), resource or self.projects.home().resource
        chosen = self.gateway.keyring.secret("code_verifier", verifier or agent_wire.fresh_verifier())
        parameters = {
            "response_type": "code",
            "client_id": agent.client_id,
            "redirect_uri": redirect_uri or agent.redirect_uri,
            "scope": " ".join(("openid", *resource.scopes, *self.extra_scopes)),
            "state": state or agent_wire.fresh_state(),
            "code_challenge": agent_wire.s256(chosen.reveal()),
            "code_challenge_method": "S256",
        }
        return Attempt(
            agent=agent,
            resource=resource,
            user=user or self.users[0],
            verifier=chosen,
            parameters=parameters,
        )

    def authorization_of(self, attempt: Attempt, code: str) -> Authorization:
        """The code that an attempt gave, with everything that its exchange needs."""
        return Authorization(
            agent=attempt.agent,
            code=self.gateway.keyring.secret("code", code),
            verifier=attempt.verifier,
            redirect_uri=attempt.parameters["redirect_uri"],
        )

    def new_code(
        self, *, agent: Agent | None = None, resource: Resource | None = None, user: User | None = None
    ) -> Authorization:
        """A code that has not been exchanged yet."""
        return self.code_for(self.attempt(agent, resource=resource, user=user))

    def code_for(self, attempt: Attempt, *, step: str = "authorization") -> Authorization:
        """The code that this attempt gives after the user has approved."""
        code = require_code(self.gateway, self.gateway.visit(attempt), step=step)
        return self.authorization_of(attempt, code)

    def grant(
        self, *, agent: Agent | None = None, resource: Resource | None = None, user: User | None = None
    ) -> Grant:
        """An agent with its tokens."""
        resource, user = resource or self.projects.home().resource, user or self.users[0]
        attempt = self.attempt(agent, resource=resource, user=user)
        return self.grant_of(self.code_for(attempt), attempt)

    def grant_of(self, authorization: Authorization, attempt: Attempt) -> Grant:
        """Exchanges the code of this attempt for tokens."""
        answer = require(self.gateway.exchange(authorization)).status(200)
        keyring, step = self.gateway.keyring, require.step_of("code exchange")
        tokens = {
            name: keyring.secret(name, step.text(answer.member(name), f"{name} of the code exchange"))
            for name in ("access_token", "id_token", "refresh_token")
        }
        self.worker_state.note_life(self.clock.life_s(tokens["access_token"], answer))
        return Grant(
            agent=authorization.agent, resource=attempt.resource, user=attempt.user, answer=answer, **tokens
        )

    def _sign_in_again(self, grant: Grant) -> Grant:
        return self.grant(agent=grant.agent, resource=grant.resource, user=grant.user)

    def token_life_s(self) -> float:
        """The shortest lifetime of a gateway access token that this worker has seen."""
        if self.worker_state.token_life_s is None:
            self.grant()
        return inf if self.worker_state.token_life_s is None else self.worker_state.token_life_s

    def order_ids(self, user: User) -> list[str]:
        """The IDs of the orders that the merchant has for the user."""
        if self.merchant is None:
            raise Unavailable("merchant", "the harness's own merchant is not part of this run")
        return [str(order["id"]) for order in self.merchant.orders(user.login)]

    def discovery(self, resource: Resource) -> dict[str, Any]:
        """The Resource's discovery document."""
        return discovery_document(self.gateway, resource)

    def jwt(self, token: Secret, what: str) -> Jwt:
        """The parsed token; its signature is not verified."""
        parsed = read(token.reveal())
        require.that(parsed is not None, what, expected="a JWT", got="something else")
        assert parsed is not None  # noqa: S101 - required above
        return parsed

    def show(self, *values: str) -> None:
        """Allows these values, which the check itself created, in reports."""
        self.gateway.keyring.public(*values)
