"""Sixteen concurrent valid requests all succeed, as each of them does alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from gateproof.conformance.kit.gateway import concurrent
from gateproof.conformance.kit.gateway.codes import LATER_ERROR, was_ended
from gateproof.conformance.kit.gateway.gateway import Gateway, Visit
from gateproof.conformance.kit.gateway.isolated_user import (
    isolated_user,
    let_expire,
    new_user,
    require_unexpired,
)
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.parties import Attempt, Authorization, Grant, User
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.races import together
from gateproof.conformance.wire import agent as agent_wire
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret

AT_ONCE, REFRESHES = 16, 8
# The statuses of a busy target, the total time of all retries, and the pause between them.
BUSY, BUSY_S, PAUSE_S = (429, 503), 30.0, 0.5


@check("ROBUST-05", alone=True)
def registrations_at_once(gateway: Gateway, world: World) -> None:
    """Sixteen concurrent registrations are all accepted."""
    alone = gateway.register(world.agents.metadata())
    world.agents.of(alone)
    waiting = _BusyRetries(gateway)

    for answer in concurrent.registrations(gateway, [world.agents.metadata()] * AT_ONCE):
        waiting.expect_served(world.agents.within_limits(answer), "client_id", alone.status or 201)


@check("ROBUST-05", alone=True)
def proxy_token_requests_at_once(gateway: Gateway, world: World) -> None:
    """Sixteen concurrent Proxy token requests all get a token."""
    client = world.projects.home().proxy_client
    world.backend.proxy_token()
    waiting = _BusyRetries(gateway)

    for answer in concurrent.mixed(gateway, [concurrent.proxy_token_request(gateway, client)] * AT_ONCE):
        waiting.expect_served(answer, "access_token")


@check("ROBUST-05", alone=True)
def users_at_once(gateway: Gateway, world: World) -> None:
    """Sixteen users sign in, exchange their codes and redeem, each step concurrently, and all succeed.

    Each user has their own agent. Without the harness's browser, the users sign in one after the other;
    without its merchant, only as many sign in concurrently as the target file names.
    """
    twin, proxy_token = world.grant(), world.backend.proxy_token()
    world.backend.require_redeemed(twin, proxy_token)
    attempts = [world.attempt(user=user) for user in _users(world)]

    begun = time.monotonic()
    codes = _signed_in(gateway, world, attempts)
    grants = _exchanged(gateway, world, attempts, codes, begun)
    waiting = _BusyRetries(gateway)
    answers = concurrent.redemptions(gateway, [(grant, proxy_token) for grant in grants])
    for grant, answer in zip(grants, answers, strict=True):
        # Provisioning may go on in the background.
        late = answer.status == 404
        last = world.backend.redeem_once_provisioned(grant, proxy_token) if late else answer
        waiting.expect_served(last, "access_token")


@check("ROBUST-05", needs=["merchant"], alone=True)
def refreshes_of_several_users_at_once(gateway: Gateway, world: World) -> None:
    """Concurrent redemptions of several users, each of which needs a refresh at the merchant, all succeed."""
    first = isolated_user(world)
    users = [first, *(first.beside() for _ in range(1 if first.given else REFRESHES - 1))]
    agent, redemptions = world.agents.new(), list[tuple[Grant, Secret]]()
    for each in users:
        each.short_lived()
        redemptions.append((each.grant(agent), each.proxy_token()))
        world.backend.require_redeemed(*redemptions[-1])
    let_expire(world)
    waiting = _BusyRetries(gateway)

    answers = concurrent.redemptions(gateway, redemptions)
    for (grant, _), answer in zip(redemptions, answers, strict=True):
        require_unexpired(world, grant, answer)
        waiting.expect_served(answer, "access_token")


@check("ROBUST-05", alone=True)
def requests_of_all_kinds_at_once(gateway: Gateway, world: World) -> None:
    """Concurrent registrations, exchanges, Proxy token requests and redemptions all succeed."""
    world = world.in_one_browser()
    client, proxy_token = world.projects.home().proxy_client, world.backend.proxy_token()
    grants = [world.grant() for _ in range(AT_ONCE // 4)]
    for grant in grants:
        world.backend.require_redeemed(grant, proxy_token)
    attempts, begun = [world.attempt() for _ in grants], time.monotonic()
    codes = [world.code_for(attempt) for attempt in attempts]
    register = agent_wire.registration(
        agent_wire.registration_endpoint(gateway.base_url), world.agents.metadata()
    )
    kinds = [
        [register for _ in grants],
        [concurrent.exchange_request(gateway, code) for code in codes],
        [concurrent.proxy_token_request(gateway, client) for _ in grants],
        [concurrent.redemption_request(gateway, grant, proxy_token) for grant in grants],
    ]
    waiting = _BusyRetries(gateway)

    # The kinds are interleaved, so that none comes first.
    turns = [request for turn in zip(*kinds, strict=True) for request in turn]
    answers = concurrent.mixed(gateway, turns)
    for number, answer in enumerate(answers):
        if number % len(kinds) == 1:
            attempt = attempts[number // len(kinds)]
            _leave_out_if_codes_are_over(world, attempt, answer, begun)
            waiting.expect_again(partial(_exchanged_anew, world, attempt), answer)
        elif number % len(kinds) == 0:
            waiting.expect_served(world.agents.within_limits(answer), "client_id", 200, 201)
        else:
            waiting.expect_served(answer, "access_token")


class _BusyRetries:
    """Retries while the target is busy, for half a minute in total."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._until = time.monotonic() + BUSY_S

    def expect_served(self, answer: Exchange, member: str, *statuses: int) -> None:
        """Expects a success with this member; repeats the request while the target is busy."""
        last = self._expect(
            answer, statuses or (200,), lambda: self._gateway.wire.send(answer.step, answer.request)
        )
        value = last.member(member)
        if isinstance(value, str) and member == "access_token":
            self._gateway.keyring.secret("access_token", value)
        expect.text(value, f"{member} of the {last.step}")

    def expect_again(self, again: Callable[[], Exchange], answer: Exchange) -> Exchange:
        """Expects a 200; while the target is busy, calls `again`, as the request cannot be repeated."""
        return self._expect(again() if answer.may_be_used_up else answer, (200,), again)

    def expect_code(self, visit: Visit, again: Callable[[], Visit], what: str) -> str:
        """Expects a code; visits again while the target is busy.

        If the harness did not come to the end of the pages, it visits once more, alone: a page with an error
        is then one that only the load has caused.
        """
        while _is_busy(visit) and self._has_time_left():
            visit = again()
        if visit.status == BUSY[0]:
            raise LeftOut("the target answers 429 for longer than the harness waits")
        if not visit.codes() and not _is_busy(visit) and not was_ended(self._gateway, visit):
            alone = again()
            if not alone.codes() or visit.status is None or visit.status < 400:
                raise LeftOut(f"the harness did not come to the end of the pages: {visit.outcome()}")
        expect.that(bool(visit.codes()), what, expected="a code at the redirect URI", got=visit.outcome())
        return visit.codes()[0]

    def _expect(self, answer: Exchange, statuses: Sequence[int], again: Callable[[], Exchange]) -> Exchange:
        while answer.status in BUSY and self._has_time_left():
            answer = again()
        if answer.status == BUSY[0]:
            raise LeftOut("the target answers 429 for longer than the harness waits")
        return expect(answer).status(*statuses)

    def _has_time_left(self) -> bool:
        wait_for(Cause.RECOVERY, PAUSE_S)
        return time.monotonic() < self._until


def _is_busy(visit: Visit) -> bool:
    """True for a page that asks to wait, and for the error that stands for it in a redirect (RFC 6749)."""
    return not visit.codes() and (visit.status in BUSY or visit.parameter("error") == LATER_ERROR)


def _users(world: World) -> list[User]:
    """Sixteen users; if the merchant takes no new ones, those of the target file, some repeatedly."""
    if world.merchant is not None:
        return [new_user(world, world.merchant) for _ in range(AT_ONCE)]
    return [world.users[number % len(world.users)] for number in range(AT_ONCE)]


def _signed_in(gateway: Gateway, world: World, attempts: Sequence[Attempt]) -> list[Authorization]:
    """The codes of users who sign in concurrently, each in a new browser; no user twice at the same time."""
    found: list[Authorization] = []
    size = len({attempt.user.login for attempt in attempts}) if gateway.new_browser is not None else 1
    for first in range(0, len(attempts), size):
        batch, waiting = attempts[first : first + size], _BusyRetries(gateway)
        visits = together([partial(gateway.visit, attempt) for attempt in batch])
        for attempt, visit in zip(batch, visits, strict=True):
            what = f"sign-in of one of {len(batch)} users at once"
            code = waiting.expect_code(visit, partial(gateway.visit, attempt), what)
            found.append(world.authorization_of(attempt, code))
    return found


def _exchanged(
    gateway: Gateway,
    world: World,
    attempts: Sequence[Attempt],
    codes: Sequence[Authorization],
    begun: float,
) -> list[Grant]:
    """The tokens of codes that are exchanged concurrently; none of them was issued before `begun`."""
    waiting, grants = _BusyRetries(gateway), list[Grant]()
    for attempt, answer in zip(attempts, concurrent.exchanges(gateway, codes), strict=True):
        _leave_out_if_codes_are_over(world, attempt, answer, begun)
        last = waiting.expect_again(partial(_exchanged_anew, world, attempt), answer)
        tokens = {
            name: gateway.keyring.secret(name, expect.text(last.member(name), f"{name} of the code exchange"))
            for name in ("access_token", "id_token", "refresh_token")
        }
        grants.append(
            Grant(agent=attempt.agent, resource=attempt.resource, user=attempt.user, answer=last, **tokens)
        )
    return grants


def _leave_out_if_codes_are_over(world: World, attempt: Attempt, answer: Exchange, begun: float) -> None:
    """Raises LeftOut if a code as old as this one is refused alone, too: the lifetime of codes is open."""
    if answer.status != 400 or answer.may_be_used_up:
        return
    age_s, authorization = answer.at_s - begun, world.code_for(attempt)
    wait_for(Cause.EXPIRY, age_s)
    if world.gateway.exchange(authorization).status != 200:
        raise LeftOut(f"codes do not live for the {age_s:.0f} s that the sign-ins before took")


def _exchanged_anew(world: World, attempt: Attempt) -> Exchange:
    """Exchanges a new code: the busy answer may have used up the old one."""
    return world.gateway.exchange(world.code_for(attempt))
