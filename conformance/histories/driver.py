"""Executes the steps of a history at a real gateway, and records the results."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

from gateproof.conformance.histories.merchant_journal import JournalReader
from gateproof.conformance.histories.observation import CRASHED, MerchantCall, Seen, status_word
from gateproof.conformance.histories.steps import (
    Approve,
    AskProxyToken,
    Authorize,
    Exchange,
    Forward,
    Manner,
    Merchant,
    NewProject,
    NewProxyClient,
    Redeem,
    Register,
    Revoke,
    Step,
)
from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.gateway import Visit
from gateproof.conformance.kit.gateway.project_pool import ControlledProjects
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import require
from gateproof.conformance.suite.parties import Agent, Attempt, Authorization, Project, ProxyClient, User
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import APPROVAL_S
from gateproof.conformance.wire.exchange import Exchange as Answered
from gateproof.conformance.wire.secret import Secret

# Longer than the token's lifetime and any leeway.
PROXY_HOUR_S = 4000.0
# A code may expire after this time if the target file does not say how long codes live.
CODE_LIFE_S = 10.0
_BUSY = 503
SCRIPTS: Mapping[Manner, Mapping[str, Any]] = {
    "accepts": {},
    "rejects": {"provisioning": "reject", "refresh": "reject"},
    "rejects refreshes": {"refresh": "reject"},
    "rotates refresh tokens": {"rotate_refresh_tokens": True},
    "repeats no refresh token": {"omit_refresh_token_on_refresh": True},
    "gives no refresh token": {"issue_refresh_token": False},
    "stumbles once": {"answers": ["server_error"]},
    "rotates and loses the answer": {"rotate_refresh_tokens": True, "answers": ["rotate_then_500"]},
}


class Impossible(Exception):
    """The step depends on something that an earlier step failed to create."""


@dataclass(kw_only=True, slots=True)
class Driver:
    """Executes one history; the clock moves `beyond_s` past the `life_s` of a merchant token."""

    world: World
    users: tuple[User, ...]
    journal_reader: JournalReader | None
    life_s: float
    beyond_s: float
    # How long to wait for background provisioning.
    patience_s: float
    signed_in_at: float = float("-inf")
    # False once a sign-in was seen without a request to the merchant.
    asks_always: bool = True
    _projects: list[Project] = field(default_factory=list)
    _agents: list[Agent] = field(default_factory=list)
    # By agent and Project.
    _approved_at: dict[tuple[int, int], float] = field(default_factory=dict)
    _codes: list[Authorization | None] = field(default_factory=list)
    _held: dict[int, Secret] = field(default_factory=dict)
    _whose: list[tuple[int, int]] = field(default_factory=list)
    _clients: list[ProxyClient] = field(default_factory=list)
    _tokens: list[Secret | None] = field(default_factory=list)

    def take(self, step: Step, *, awaits: bool = False) -> Seen:
        """Executes the step; with `awaits`, waits for the merchant call of this sign-in."""
        match step:
            case Authorize():
                return self._authorize(step, awaits=awaits)
            case Register():
                return self._register()
            case Exchange():
                return self._exchange(step)
            case AskProxyToken():
                return self._ask_proxy_token(step)
            case Redeem():
                return self._redeem(step)
            case _:
                return self._direct(step)

    def _direct(self, step: Step) -> Seen:
        """Steps of the operator, the merchant or the clock: they succeed, or the run fails."""
        heard: tuple[MerchantCall, ...] = ()
        match step:
            case NewProject():
                self._new_project(step)
            case Approve():
                resource = self._projects[step.project].resource
                self.world.projects.approve_agent(self._agents[step.agent], resource)
                self._approved_at[step.agent, step.project] = time.monotonic()
            case NewProxyClient():
                client = console.new_proxy_client(self.world, self._projects[step.project])
                self._clients.append(client)
            case Revoke():
                console.revoke(self.world, self._clients[step.client])
            case Merchant():
                # Calls up to now belong to the merchant's earlier behavior.
                heard = self._listen()
                self._script(step)
            case Forward():
                self.forward(PROXY_HOUR_S if step.past == "Proxy token" else self.life_s + self.beyond_s)
        return self._seen("done", "", heard)

    def now(self) -> float:
        """The gateway's time."""
        return time.time() + self.world.clock.offset_s

    def forward(self, seconds: float) -> None:
        self.world.clock.advance(seconds)
        if self.journal_reader is not None:
            self.journal_reader.moved(self.world.clock.offset_s)

    def _new_project(self, step: NewProject) -> None:
        world = self.world
        if isinstance(world.projects.pool, ControlledProjects):
            project = world.projects.new(agent_policy=None)
            if step.policy == "hold":
                world.projects.set_agent_policy(project, "hold")
        else:
            project = world.projects.home()
        self._projects.append(project)
        self._clients.append(project.proxy_client)
        if self.journal_reader is not None:
            self.journal_reader.attend(project.resource)
            # In a Project of the run, one script for all users is enough.
            own = self.world.projects.pool.created_by_run(project.id)
            for login in (None,) if own else [user.login for user in self.users]:
                self._directed(project, access_token_lifetime_s=int(self.life_s), login=login)

    def _script(self, step: Merchant) -> None:
        script = {**SCRIPTS[step.manner], "access_token_lifetime_s": int(self.life_s)}
        self._directed(self._projects[step.project], login=self.users[step.user].login, **script)

    def _directed(self, project: Project, **script: Any) -> None:
        if self.journal_reader is None:
            raise Impossible("the merchant is not scripted")
        self.journal_reader.merchant.script(project.resource.merchant_client_id or "", **script)

    def _register(self) -> Seen:
        agents = self.world.agents
        answer = agents.within_limits(_answered(self.world.gateway.register(agents.metadata())))
        if answer.status not in {200, 201}:
            return self._seen(status_word(answer.status), answer.outcome())
        self._agents.append(agents.of(answer))
        return self._seen("201", answer.outcome())

    def _authorize(self, step: Authorize, *, awaits: bool) -> Seen:
        world, begun = self.world, self.now()
        attempt, visit = self._visit(step)
        require.that(
            visit.ended() or _crashed(visit),
            "sign-in",
            expected="a clear end of the sign-in",
            got=visit.outcome(),
        )
        code = visit.parameter("code")
        self._codes.append(world.authorization_of(attempt, code) if code else None)
        self._whose.append((step.project, step.user))
        self.signed_in_at = time.monotonic()
        heard = self._await_provisioning(step) if awaits and code else self._listen()
        came = _came(visit, step)
        # The moment of the sign-in at which the code was made is unknown.
        until = begun + (world.code_lifetime_s or CODE_LIFE_S)
        return self._seen(came, _sign_in_text(came, visit), heard, until=until)

    def _visit(self, step: Authorize) -> tuple[Attempt, Visit]:
        """The sign-in; it is repeated for a moment if the operator has just approved the agent."""
        until = self._approved_at.get((step.agent, step.project), -inf) + APPROVAL_S
        while True:
            attempt = self.world.attempt(
                self._agents[step.agent],
                resource=self._projects[step.project].resource,
                user=self.users[step.user],
            )
            begun = time.monotonic()
            visit = self.world.gateway.visit(attempt, approve=step.approves, wherever=True)
            is_final = not step.approves or bool(visit.codes()) or not visit.ended()
            if is_final or begun > until:
                return attempt, visit
            wait_for(Cause.REQUEST, 0.5)

    def _await_provisioning(self, step: Authorize) -> tuple[MerchantCall, ...]:
        """The merchant calls until the one for this user came, or the time is over."""
        deadline = time.monotonic() + (self.patience_s if self.asks_always else 0.3)
        heard = self._listen()
        while not _provisioned(heard, step) and self.journal_reader is not None:
            if time.monotonic() > deadline:
                self.asks_always = False
                break
            wait_for(Cause.REQUEST, 0.05)
            heard += self._listen()
        return heard

    def _exchange(self, step: Exchange) -> Seen:
        authorization = self._codes[step.code]
        if authorization is None:
            raise Impossible("there is no code to exchange")
        answer = _answered(self.world.gateway.exchange(authorization))
        token = answer.member("access_token")
        if answer.status == 200 and isinstance(token, str) and token:
            secret = self.world.gateway.keyring.secret("access_token", token)
            self._held.setdefault(step.code, secret)
            until = self.now() + self.world.clock.life_s(secret, answer)
            return self._seen("tokens", answer.outcome(), until=until)
        refused = answer.status in range(400, 500) and answer.says("invalid_grant")
        said = (
            f"{answer.outcome()} and {'invalid_grant' if refused else answer.member('error') or 'no error'}"
        )
        return self._seen("invalid_grant" if refused else status_word(answer.status), said)

    def _ask_proxy_token(self, step: AskProxyToken) -> Seen:
        answer = _answered(self.world.gateway.proxy_token(self._clients[step.client]))
        token, life_s = answer.member("access_token"), answer.member("expires_in")
        given = answer.status == 200 and isinstance(token, str) and token
        self._tokens.append(Secret("proxy_token", str(token)) if given else None)
        known = isinstance(life_s, int | float) and not isinstance(life_s, bool)
        until = self.now() + (float(life_s) if known else PROXY_HOUR_S)
        came = "Proxy token" if given else status_word(answer.status)
        return self._seen(came, answer.outcome(), until=until)

    def _redeem(self, step: Redeem) -> Seen:
        bearer, token = self._held.get(step.code), self._tokens[step.token]
        if bearer is None or token is None:
            raise Impossible("there is no access token or no Proxy token")
        project, user = self._whose[step.code]
        resource, person = self._projects[project].resource, self.users[user]
        answer = _answered(self.world.gateway.redeem(bearer, token, resource.indicator))
        heard = self._listen()
        said, given, merchant_token = answer.outcome(), answer.member("access_token"), None
        if answer.status == 200 and self.journal_reader is not None:
            merchant_token = self.journal_reader.about(str(given), person, resource)
            if not merchant_token.owned:
                said += " with a merchant token that is not this user's at this Resource"
            elif self.now() > merchant_token.until:
                said += " with a merchant token that has expired"
        return self._seen(status_word(answer.status), said, heard, token=merchant_token)

    def _listen(self) -> tuple[MerchantCall, ...]:
        return self.journal_reader.listen() if self.journal_reader is not None else ()

    def _seen(self, came: str, said: str, heard: tuple[MerchantCall, ...] = (), **more: Any) -> Seen:
        return Seen(came=came, said=said, at=self.now(), heard=heard, **more)


def _crashed(visit: Visit) -> bool:
    """True if the browser ended on a server error page other than 503."""
    return not visit.ended() and visit.status is not None and visit.status != _BUSY


def _came(visit: Visit, step: Authorize) -> str:
    if _crashed(visit):
        return CRASHED
    if not visit.codes():
        return "no code"
    # Without a consent page, the user could not decline.
    return "code unasked" if not step.approves and visit.declined is False else "code"


def _sign_in_text(came: str, visit: Visit) -> str:
    if came == CRASHED:
        return f"no code, but a page with status {visit.status}"
    return "no code" if came == "no code" else "a code"


def _provisioned(heard: tuple[MerchantCall, ...], step: Authorize) -> bool:
    return any(
        each.grant == "provisioning" and (each.project, each.user) == (step.project, step.user)
        for each in heard
    )


def _answered(answer: Answered) -> Answered:
    """Requires an answer: a missing one is not part of the state table."""
    require.that(
        answer.answer is not None, answer.step, expected="an answer", got=answer.outcome(), exchange=answer
    )
    return answer
