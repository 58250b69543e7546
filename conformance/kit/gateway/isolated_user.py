"""A test user used by one check only; the check scripts how the merchant answers for this user."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gateproof.conformance.kit.gateway.merchant_backoff import Backoff
from gateproof.conformance.kit.gateway.project_pool import ControlledProjects
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import LeftOut, TimesUnclear, Unavailable, expect, require
from gateproof.conformance.suite.parties import Agent, Grant, Project, Resource, User
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import PROVISIONING_S
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.merchant.admin import MerchantAdmin
from gateproof.fakes.merchant.records import JournalEntry, named_actors

_Outcome = str | Mapping[str, Any]

# If the clock can be moved: a token lifetime shorter than one step of the clock, and that step.
BY_CLOCK_S, STEP_S = 60, 70
# A gateway access token has to outlive this many steps; if it does not, the steps are made smaller.
STEPS, ROUNDED_UP_S = 3, 2
# If it cannot be moved: a lifetime short enough to wait for, and by how much a gateway may round it up.
BY_WAITING_S, ROUNDED_S = 1, 0.5
_SERVER_ERRORS = 500
# How long a gateway may accept a token after the merchant calls it expired.
LATE_S = 3.0
# Outcomes of a working merchant, positive or negative.
_NO_TROUBLE = ("accept", "ok", "reject", "turn_away", "hold_then_reject")
# Outcomes that a gateway may remember for the Resource if they end a sign-in.
_REJECTED = ("reject", "turn_away")


@dataclass(frozen=True, kw_only=True)
class IsolatedUser:
    """One user at one Resource; no other check uses this user there."""

    world: World
    project: Project
    user: User
    merchant: MerchantAdmin
    client_id: str
    # Ordinal of the merchant's last journal entry before this user: other checks may use the client, too.
    since: int
    # True for a user of the target file, in a Project of its own.
    given: bool = False

    @property
    def resource(self) -> Resource:
        return self.project.resource

    def beside(self) -> IsolatedUser:
        """The same Resource, with another user."""
        if self.given and len(self.world.users) < 2:
            raise Unavailable("users:2", "needs two users: name a second one under [[users]]")
        user = self.world.users[1] if self.given else new_user(self.world, self.merchant)
        return replace(self, user=user)

    def script(self, **fields: Any) -> None:
        """Scripts how the merchant answers for this user from now on; the fields are those of its script."""
        scripted = [fields[place] for place in ("provisioning", "refresh", "sign_in") if place in fields]
        scripted += fields.get("answers", ())
        if any(map(_is_trouble, scripted)):
            self.world.worker_state.note_merchant_failure()
        if not self.given and (
            any(map(_is_trouble, scripted)) or _name(fields.get("provisioning", "accept")) in _REJECTED
        ):
            self.world.projects.pool.is_troubled(self.project.id)
        self.merchant.script(self.client_id, login=self.user.login, **fields)

    def short_lived(self, **fields: Any) -> None:
        """Scripts the merchant to issue tokens that expire during the check."""
        life_s = _steps(self.world)[0] if self.world.clock.can_move() else BY_WAITING_S
        self.script(access_token_lifetime_s=life_s, **fields)

    def grant(self, agent: Agent | None = None) -> Grant:
        return self.world.grant(agent=agent, resource=self.resource, user=self.user)

    def proxy_token(self) -> Secret:
        return self.world.backend.proxy_token(self.project)

    def journal(self) -> list[JournalEntry]:
        """The merchant's requests about this user from the Resource's client."""
        return [entry for entry in self.received() if entry.login == self.user.login]

    def received(self) -> list[JournalEntry]:
        """The merchant's requests from the Resource's client, about any user."""
        return self.merchant.journal(self.client_id, self.since)

    def asked(self, *grants: str) -> list[JournalEntry]:
        return [entry for entry in self.journal() if entry.grant in grants]

    def served_again(self, before: int, agent: str, *grants: str) -> list[JournalEntry]:
        """Successful requests with these grants after the first `before`, once one of them names this agent.

        Requests for another agent may still be running. After a few seconds this returns what came so far.
        """
        deadline = time.monotonic() + PROVISIONING_S
        while True:
            more = [entry for entry in self.asked(*grants)[before:] if entry.status == 200]
            named = any(agent in actor for entry in more for actor in named_actors(entry.actor))
            if named or time.monotonic() > deadline:
                return more
            wait_for(Cause.REQUEST, 0.1)

    def require_outcome(self, outcome: str) -> None:
        """Requires that the gateway's request for this user's token ended with this outcome.

        A gateway that gets merchant tokens with the sign-in grant does not meet the script.
        """
        deadline = time.monotonic() + PROVISIONING_S
        while not any(entry.outcome == outcome and entry.status is not None for entry in self.journal()):
            require.that(
                time.monotonic() < deadline,
                "provisioning at the fake merchant",
                expected=f"a jwt-bearer or token-exchange grant, and that the merchant's {outcome} ended it",
                got=", ".join(sorted({entry.grant or entry.endpoint for entry in self.journal()}))
                or "nothing",
            )
            wait_for(Cause.REQUEST, 0.1)


def _is_trouble(scripted: _Outcome) -> bool:
    """True for an outcome that may open a gateway's circuit breaker: an outage or a useless answer."""
    return _name(scripted) not in _NO_TROUBLE


def _name(scripted: _Outcome) -> str:
    return scripted if isinstance(scripted, str) else str(scripted["outcome"])


def expect_orders(alone: IsolatedUser, token: str) -> None:
    """Expects that the merchant API accepts the token and answers with this user's orders."""
    answer = alone.world.backend.orders(Secret("merchant_access_token", token))
    if answer.status != 200 and _has_ended(alone, token):
        raise TimesUnclear("the merchant token had expired when it came, after a slow redemption")
    expect(answer).status(200)
    orders = [str(order["id"]) for order in alone.merchant.orders(alone.user.login)]
    text = answer.answer.text() if answer.answer is not None else ""
    expect.that(
        all(order in text for order in orders),
        answer.step,
        expected=f"the orders of {alone.user.name}",
        got="others",
    )


def _has_ended(alone: IsolatedUser, token: str) -> bool:
    """True if the token, of a second where no clock can be moved, expired after it was asked for."""
    world = alone.world
    asked = next((each for each in reversed(world.seen()) if each.step.startswith("redemption")), None)
    state = None if world.clock.can_move() else alone.merchant.lookup(token)
    if asked is None or state is None or state.expires_at is None:
        return False
    begun = time.time() - (time.monotonic() - asked.at_s)
    return begun < state.expires_at < time.time()


def isolated_user(world: World, *, own: bool = False) -> IsolatedUser:
    """A user whom no other check uses at this Resource: a new one, at a Resource that others use, too.

    If the merchant will be slow, fail, or reject somebody who signs in, the Resource has to be the check's
    `own`: a gateway may remember such things for the Resource. The user is then one of the target file, and
    always so if that file names its users.
    """
    if world.merchant is None:
        raise Unavailable("merchant", "the harness's own merchant is not part of this run")
    pool = world.projects.pool
    given = isinstance(pool, ControlledProjects) and (own or pool.only_given_users())
    project = world.projects.new() if given else world.projects.isolating()
    user = world.users[0] if given else new_user(world, world.merchant)
    client_id = project.resource.merchant_client_id
    if client_id is None:
        raise Unavailable("merchant", "the target file names no merchant_client_id for the Resource")
    return IsolatedUser(
        world=world,
        project=project,
        user=user,
        merchant=world.merchant,
        client_id=client_id,
        since=world.merchant.last_received(),
        given=given,
    )


def let_expire(world: World) -> None:
    """Waits or moves the clock until the short-lived merchant tokens issued so far have expired."""
    if world.clock.can_move():
        world.clock.advance(_steps(world)[1])
    else:
        wait_for(Cause.EXPIRY, BY_WAITING_S + ROUNDED_S)


def before_expiry(answer: Exchange) -> str | None:
    """The merchant token before its expiry; None if the gateway treats it as almost expired (410)."""
    token = require.step_of("redemption")(answer).status(200, 410).member("access_token")
    return token if isinstance(token, str) else None


def needing_reauthorization(
    alone: IsolatedUser, agent: Agent | None = None, **script: Any
) -> tuple[Secret, Grant, Exchange]:
    """A user whose redemption answers 410 after the merchant followed this script."""
    world, proxy_token = alone.world, alone.proxy_token()
    alone.short_lived(**script)
    grant = alone.grant(agent)
    stale = before_expiry(world.backend.redeem_after_backoff(grant, proxy_token))
    let_expire(world)
    rejected = script.get("refresh") == "reject"
    step = "redemption after a rejected refresh" if rejected else "redemption without a refresh token"
    answer = redeem_past(world, grant, proxy_token, stale)
    return proxy_token, grant, require.step_of(step)(answer).status(410)


def redeem_past(world: World, grant: Grant, proxy_token: Secret, expired: str | None) -> Exchange:
    """A redemption after an expiry; if clocks differ a little, the expired token may still come at first.

    If an earlier check broke the merchant, one of several processes may not call it for a while.
    """
    deadline, backoff = time.monotonic() + LATE_S, Backoff(world.worker_state)
    while True:
        since = _last_call(world)
        answer = world.backend.redeem_once_provisioned(grant, proxy_token)
        if _keeps_away(world, grant, answer, since) and not backoff.is_over(answer):
            wait_for(Cause.RECOVERY, 1)
            continue
        stale = answer.status == 200 and answer.member("access_token") == expired
        if not stale or world.clock.can_move() or time.monotonic() > deadline:
            if answer.status not in {200, 410}:
                require_unexpired(world, grant, answer)
            return answer
        wait_for(Cause.EXPIRY, 0.25)


def redeem_past_real_time(
    world: World, grant: Grant, proxy_token: Secret, expired: object, *, within_s: float
) -> Exchange:
    """A redemption after a real expiry; clocks may differ, so the expired token may be returned at first."""
    deadline, backoff = time.monotonic() + within_s, Backoff(world.worker_state)
    while True:
        since = _last_call(world)
        answer = world.backend.redeem_once_provisioned(grant, proxy_token, not_yet=())
        if _keeps_away(world, grant, answer, since) and not backoff.is_over(answer):
            wait_for(Cause.RECOVERY, 1)
            continue
        if answer.member("access_token") != expired or time.monotonic() > deadline:
            return answer
        wait_for(Cause.EXPIRY, 0.25)


def _last_call(world: World) -> int:
    return world.merchant.last_received() if world.merchant is not None else 0


def _keeps_away(world: World, grant: Grant, answer: Exchange, since: int) -> bool:
    """True for a server error of a gateway that has not called the merchant for this user."""
    client_id = grant.resource.merchant_client_id
    if (answer.status or 0) < _SERVER_ERRORS or world.merchant is None or client_id is None:
        return False
    return not any(entry.login == grant.user.login for entry in world.merchant.journal(client_id, since))


def require_renewed(answer: Exchange, expired: object) -> None:
    """Requires that a redemption past an expiry gave another merchant token than the expired one."""
    step = require.step_of("redemption after a refresh")
    step(answer).status(200)
    step.that(
        answer.member("access_token") != expired,
        "merchant token past its expiry",
        expected="a new one",
        got="the expired one",
        exchange=answer,
    )


def expect_renewed(answer: Exchange, expired: object) -> None:
    """Expects that a redemption past an expiry gives another merchant token than the expired one."""
    expect(answer).status(200)
    expect.that(
        answer.member("access_token") != expired,
        "merchant token past its expiry",
        expected="a new one",
        got="the expired one",
        exchange=answer,
    )


def require_unexpired(world: World, grant: Grant, answer: Exchange) -> None:
    """Raises LeftOut if the gateway access token expired before the merchant token, as it may."""
    exp = world.jwt(grant.access_token, "gateway access token").claims.get("exp")
    if answer.status != 200 and isinstance(exp, int | float) and exp <= world.clock.target_time(answer) + 1:
        raise LeftOut("the gateway access token expired before the merchant token did")


def _steps(world: World) -> tuple[int, int]:
    """The lifetime of merchant tokens, and the step of the clock that ends it.

    Gateways choose the lifetime of their own access tokens; those must not expire first.
    """
    if world.token_life_s() > STEPS * STEP_S:
        return BY_CLOCK_S, STEP_S
    life_s = max(1, int(world.token_life_s() / STEPS) - ROUNDED_UP_S - 1)
    return life_s, life_s + ROUNDED_UP_S


def new_user(world: World, merchant: MerchantAdmin, login: str | None = None) -> User:
    """Adds a new user to the merchant; no other check uses it."""
    name = world.unique()
    password = world.gateway.keyring.secret("password", secrets.token_urlsafe(12))
    user = User(name=name, login=login or f"{name}@merchant.example", password=password)
    merchant.add_user(user.name, user.login, password.reveal())
    return user
