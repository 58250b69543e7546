"""Everything around the gateway that one check needs, brought to the point where the check begins."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from gateproof.conformance.kit.gateway.clock import Clock
from gateproof.conformance.kit.gateway.gateway import CALLBACK, Gateway
from gateproof.conformance.kit.gateway.merchant_backoff import Backoff
from gateproof.conformance.kit.gateway.project_pool import SCOPES, ProjectPool
from gateproof.conformance.kit.gateway.worker_state import WorkerState
from gateproof.conformance.suite.claims import LeftOut, Unavailable, Unmet, require
from gateproof.conformance.suite.parties import Agent, Attempt, Authorization, Grant, Project, Resource, User
from gateproof.conformance.targets import actions
from gateproof.conformance.targets.control import ControlPlane, Unsupported
from gateproof.conformance.targets.model import AgentPolicy
from gateproof.conformance.wire import agent as agent_wire
from gateproof.conformance.wire import backend as backend_wire
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.jose import Jwt, keys_of, read
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.merchant.admin import MerchantAdmin

AGENT_DOMAIN = "agent.example"
AGENT_NAME = "Gateproof test agent"
# Provisioning may go on in the background for this long after a sign-in.
PROVISIONING_S = 5.0


@dataclass(frozen=True, kw_only=True)
class World:
    """Brings parties to a state; each step that a check does not test is a `require`."""

    gateway: Gateway
    estate: ProjectPool
    users: tuple[User, ...]
    extra_scopes: tuple[str, ...]
    control: ControlPlane | None
    merchant: MerchantAdmin | None
    merchant_api: str | None
    ca_file: str
    service_certificate: tuple[str, str]
    seen: Callable[[], Sequence[Exchange]]
    clock: Clock
    capabilities: frozenset[str]
    standing: WorkerState
    code_lifetime_s: float | None = None

    def home(self) -> Project:
        """A Project that is shared by checks that do not change it."""
        return self._named(self.estate.home())

    def project(self) -> Project:
        """A Project that no part of this check has met yet; others may share it."""
        return self._named(self.estate.another())

    def new_project(self, *, agent_policy: AgentPolicy | None = "approve") -> Project:
        """A Project that the run makes for this check alone."""
        return self._named(self.estate.new(agent_policy))

    def project_apart(self) -> Project:
        """A Project for this check alone where the run makes Projects, and home elsewhere."""
        try:
            return self.new_project()
        except Unavailable:
            return self.home()

    def holding_resource(self) -> Resource:
        """A Resource whose Project holds agents; the agents that are to meet it register after this."""
        resource = self.estate.holding()
        self._name(resource)
        return resource

    def approve_agent(self, agent: Agent, resource: Resource) -> None:
        """An operator lets a Pending agent into the Project of the Resource."""
        actions.approve_agent(self._by_control("approve_agent"), resource.project_id, agent.client_id)

    def set_agent_policy(self, project: Project, agent_policy: AgentPolicy) -> None:
        """Changes a Project that the run has made, and no other: every check to come would meet it."""
        if not self.estate.is_own(project.id):
            raise Unavailable("control:create_project", "needs a Project that the run itself has made")
        actions.set_agent_policy(self._by_control("set_agent_policy"), project.id, agent_policy)

    def two_resources(self) -> tuple[Resource, Resource]:
        home, other = self.home().resource, self.estate.second_resource()
        self._name(other)
        return home, other

    def resource(
        self,
        *,
        indicator: str,
        scopes: tuple[str, ...] = SCOPES,
        project: Project | None = None,
        token_endpoint: str | None = None,
    ) -> Resource:
        """A Resource with this indicator, as it is written, at home or in the Project named."""
        resource = self.estate.resource(indicator, project, scopes=scopes, token_endpoint=token_endpoint)
        self._name(resource)
        return resource

    def in_one_browser(self) -> World:
        """The same world, whose users stay in one browser from here on: later sign-ins are short."""
        return replace(self, gateway=self.gateway.in_one_browser())

    def unique(self) -> str:
        return f"g{secrets.token_hex(6)}"

    def metadata(
        self, *, redirect_uris: Iterable[str] = (CALLBACK,), auth_method: str = "client_secret_post"
    ) -> dict[str, Any]:
        """A good registration."""
        return agent_wire.agent_metadata(
            name=AGENT_NAME, redirect_uris=redirect_uris, auth_method=auth_method
        )

    def agent(self, *redirect_uris: str) -> Agent:
        """An agent that has just registered."""
        return self.agent_of(self.gateway.register(self.metadata(redirect_uris=redirect_uris or (CALLBACK,))))

    def agent_with(self, *redirect_uris: str) -> Agent:
        """An agent with redirect URIs that a gateway need not accept, HTTPS as they are."""
        registered = self.gateway.register(self.metadata(redirect_uris=redirect_uris))
        if registered.status in range(400, 500):
            raise LeftOut(f"the gateway does not accept the redirect URIs {', '.join(redirect_uris)}")
        return self.agent_of(registered)

    def agent_of(self, registered: Exchange) -> Agent:
        """The agent that a registration gave."""
        require(registered).status(200, 201)
        sent = json.loads(registered.request.body)["redirect_uris"]
        client_secret = require.text(registered.member("client_secret"), "client_secret of the registration")
        return Agent(
            client_id=require.text(registered.member("client_id"), "client_id of the registration"),
            client_secret=self.gateway.keyring.secret("client_secret", client_secret),
            redirect_uris=tuple(sent),
        )

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
        """A good authorization request, with a verifier of its own unless one is given."""
        agent, resource = agent or self.agent(), resource or self.home().resource
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
        """The code that an attempt gave, with what its exchange needs."""
        return Authorization(
            agent=attempt.agent,
            code=self.gateway.keyring.secret("code", code),
            verifier=attempt.verifier,
            redirect_uri=attempt.parameters["redirect_uri"],
        )

    def new_code(
        self, *, agent: Agent | None = None, resource: Resource | None = None, user: User | None = None
    ) -> Authorization:
        """A code that waits to be exchanged."""
        return self.code_for(self.attempt(agent, resource=resource, user=user))

    def code_for(self, attempt: Attempt) -> Authorization:
        """The code that comes of this attempt once the user has approved."""
        visit = self.gateway.visit(attempt)
        code = visit.parameter("code")
        require.that(bool(code), "authorization", expected="a code at the redirect URI", got=visit.outcome())
        return self.authorization_of(attempt, code or "")

    def grant(
        self, *, agent: Agent | None = None, resource: Resource | None = None, user: User | None = None
    ) -> Grant:
        """An agent with its tokens."""
        resource, user = resource or self.home().resource, user or self.users[0]
        attempt = self.attempt(agent, resource=resource, user=user)
        return self.grant_of(self.code_for(attempt), attempt)

    def grant_of(self, authorization: Authorization, attempt: Attempt) -> Grant:
        """The tokens that the code of this attempt is exchanged for."""
        answer = require(self.gateway.exchange(authorization)).status(200)
        keyring = self.gateway.keyring
        tokens = {
            name: keyring.secret(name, require.text(answer.member(name), f"{name} of the code exchange"))
            for name in ("access_token", "id_token", "refresh_token")
        }
        self.standing.note_life(self.clock.life_s(tokens["access_token"], answer))
        return Grant(
            agent=authorization.agent, resource=attempt.resource, user=attempt.user, answer=answer, **tokens
        )

    def token_life_s(self) -> float:
        """How long a gateway access token lives here at least, as far as this worker has seen."""
        if self.standing.token_life_s is None:
            self.grant()
        return inf if self.standing.token_life_s is None else self.standing.token_life_s

    def proxy_token(self, project: Project | None = None) -> Secret:
        """A Proxy token of the Project's Proxy client."""
        answer = require(self.gateway.proxy_token((project or self.home()).proxy_client)).status(200)
        token = require.text(answer.member("access_token"), "access_token of the Proxy token request")
        return self.gateway.keyring.secret("proxy_token", token)

    def redeem_once_provisioned(
        self, grant: Grant, proxy_token: Secret, *, not_yet: Collection[int] = (404,)
    ) -> Exchange:
        """A redemption; a status of `not_yet` is asked again while provisioning may still be going on."""
        deadline = time.monotonic() + self.standing.patience_s(PROVISIONING_S)
        while True:
            answer = self.gateway.redeem(grant.access_token, proxy_token, grant.resource.indicator)
            if answer.status not in not_yet or time.monotonic() > deadline:
                self.standing.note(answer, in_vain=answer.status in not_yet)
                return answer
            time.sleep(0.25)

    def require_redeemed(
        self, grant: Grant, proxy_token: Secret, *, not_yet: Collection[int] = (404,)
    ) -> Exchange:
        """A redemption to build on."""
        return require(self.redeem_after_backoff(grant, proxy_token, not_yet=not_yet)).status(200)

    def redeem_after_backoff(
        self, grant: Grant, proxy_token: Secret, *, not_yet: Collection[int] = (404,)
    ) -> Exchange:
        """A redemption of which no trouble that the merchant had before is the reason.

        A gateway that leaves its merchant in peace for a while may have asked it for nothing at the sign-in:
        then the user signs in once more.
        """
        sparing = Backoff(self.standing)
        answer = self.redeem_once_provisioned(grant, proxy_token, not_yet=not_yet)
        while answer.status != 200 and not sparing.is_over(answer):
            time.sleep(1)
            grant = self.grant(agent=grant.agent, resource=grant.resource, user=grant.user)
            answer = self.redeem_once_provisioned(grant, proxy_token, not_yet=not_yet)
        return answer

    def merchant_token(self, grant: Grant, proxy_token: Secret) -> Secret:
        answer = self.require_redeemed(grant, proxy_token)
        token = require.text(answer.member("access_token"), "access_token of the redemption")
        return self.gateway.keyring.secret("merchant_access_token", token)

    def orders(self, merchant_token: Secret) -> Exchange:
        """The merchant API's answer to the token."""
        request = backend_wire.merchant_orders(self.merchant_api or "", merchant_token)
        return self.gateway.wire.send("merchant API", request)

    def order_ids(self, user: User) -> list[str]:
        """The orders that the merchant has for the user."""
        if self.merchant is None:
            raise Unavailable("merchant", "the harness's own merchant is not part of this run")
        return [str(order["id"]) for order in self.merchant.orders(user.login)]

    def discovery(self, resource: Resource) -> dict[str, Any]:
        """The Resource's discovery document."""
        return require(require(self.gateway.discovery(resource)).status(200)).json_object()

    def core_keys(self, resource: Resource) -> list[dict[str, Any]]:
        jwks_uri = require.text(
            self.discovery(resource).get("jwks_uri"), "jwks_uri in the discovery document"
        )
        keys = self.key_set(jwks_uri, "core key set")
        self.standing.note_keys(keys)
        return keys

    def key_set(self, jwks_uri: str, step: str) -> list[dict[str, Any]]:
        """The keys of a JWK Set that has some."""
        answer = require(self.gateway.fetch(self.reachable(jwks_uri), step)).status(200)
        keys = keys_of(answer.json())
        require.that(bool(keys), step, expected="a JWK Set with keys", got="no key")
        self.gateway.keyring.public(*(str(key["kid"]) for key in keys if "kid" in key))
        self._hide_private(keys)
        return keys

    def reachable(self, url: str) -> str:
        """The URL, if this run may ask it: the target's hosts and the fakes, and nobody else."""
        if not self.gateway.wire.may_reach(url):
            raise Unavailable("address", f"{url} is on a host that the target file does not name")
        return url

    def jwt(self, token: Secret, what: str) -> Jwt:
        """The token, read; whether its signature holds is another question."""
        parsed = read(token.reveal())
        require.that(parsed is not None, what, expected="a JWT", got="something else")
        assert parsed is not None  # noqa: S101 - required above
        return parsed

    def show(self, *values: str) -> None:
        """Lets a value of this check's own making appear in a report."""
        self.gateway.keyring.public(*values)

    def target_time(self, answer: Exchange) -> float:
        """What time it is for the target, by its control's word and by the Date of an answer."""
        return self.clock.target_time(answer)

    def moves_clock(self) -> bool:
        """True where the target's clock can be moved; a control that listed no actions is tried once."""
        if "control:advance_clock" not in self.capabilities:
            return False
        if self.clock.moves is None:
            try:
                self.advance_clock(1)
            except Unsupported:
                self.clock.moves = False
        return bool(self.clock.moves)

    def advance_clock(self, seconds: float) -> None:
        """Moves the target's clock, and tells the merchant that it moved."""
        actions.advance_clock(self._by_control("advance_clock"), seconds)
        self.clock.moves = True
        self.clock.offset_s += seconds
        if self.merchant is not None:
            self.merchant.set_clock_offset(self.clock.offset_s)

    def rotate_keys(self) -> None:
        """A new core signing key; those of before are noted first, as they may soon leave the key set."""
        with suppress(Unmet):
            # A set that an earlier rotation spoilt is for KEYS-04 to find.
            self.core_keys(self.home().resource)
        actions.rotate_keys(self._by_control("rotate_keys"))

    def _by_control(self, action: str) -> ControlPlane:
        if self.control is None:
            raise Unavailable(f"control:{action}", f"needs the control action {action}")
        return self.control

    def _named(self, project: Project) -> Project:
        self.gateway.keyring.public(project.id, project.proxy_client.id)
        self.gateway.keyring.add(project.proxy_client.secret)
        self._name(project.resource)
        return project

    def _name(self, resource: Resource) -> None:
        named = (resource.id, resource.indicator, resource.jwks_uri, resource.merchant_client_id or "")
        self.gateway.keyring.public(*named)

    def _hide_private(self, keys: Iterable[Mapping[str, Any]]) -> None:
        for key in keys:
            for name in ("d", "p", "q", "dp", "dq", "qi", "k", "priv"):
                if isinstance(key.get(name), str):
                    self.gateway.keyring.secret("private_key", key[name])
