"""A merchant in trouble says what it should not; nobody hears it through the gateway."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import urlsplit

from gateproof.conformance.checks.gateway._secrecy import hidden
from gateproof.conformance.faults.merchant_answers import NONSENSE, REDIRECT, ROTATED, TROUBLE, MerchantFault
from gateproof.conformance.kit.gateway import failure_oracle
from gateproof.conformance.kit.gateway.failure_oracle import Due
from gateproof.conformance.kit.gateway.isolated_user import IsolatedUser, isolated_user
from gateproof.conformance.kit.gateway.received import Received
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unmet, expect, require
from gateproof.conformance.wire import leaks
from gateproof.conformance.wire.agent import get
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.attacker_host import Thief
from gateproof.fakes.serving import is_loopback

NEEDS = ["merchant", "faults"]
KINDS = ("merchant_refresh_token", "merchant_access_token", "proxy_token", "proxy_client_secret")
# What a gateway that provisions in the background may take from one request to the next.
MOMENT_S = 0.3
Faults = Mapping[str, MerchantFault]
GROUPS: Mapping[str, Faults] = {"trouble": {**TROUBLE, **ROTATED}, "nonsense": NONSENSE}


@check("SECRET-06", needs=NEEDS, alone=True, cases=GROUPS)
def redemption_under_a_fault_shows_no_secret(world: World, received: Received, case: Faults) -> None:
    """Whatever the merchant answers to the refresh, the error that the backend gets holds nothing of it.

    A gateway that comes to nothing any more after one of the faults has shown what there is to see.
    """
    due, answer = failure_oracle.soon_due(isolated_user(world)), None
    refused: list[Exchange] = []
    for what in case.values():
        due, answer = _redeemed_under(due, what, answer)
        refused += [answer] if answer.status != 200 else []
        if not due.refreshes():
            break
        failure_oracle.struck(due, what)

    if not refused:
        raise LeftOut("the gateway refused no redemption under any fault")
    hidden(world, received, *KINDS, among=refused)


@check("SECRET-06", needs=NEEDS, cases=GROUPS)
def sign_in_under_a_fault_shows_no_secret(world: World, received: Received, case: Faults) -> None:
    """Whatever the merchant answers in place of a token, no page, redirect or answer holds it.

    A gateway that took one of the answers for a token need not ask for another at the next sign-in.
    """
    alone, agent = isolated_user(world), world.agents.new()
    before = len(world.seen())
    for number, what in enumerate(case.values()):
        alone.script(provisioning=what.scripted(), rotate_refresh_tokens=what.rotates)
        after = failure_oracle.last_of(alone)
        attempt = world.attempt(agent, resource=alone.resource, user=alone.user)
        code = world.gateway.visit(attempt, wherever=True).parameter("code")
        if code is not None:
            world.gateway.exchange(world.authorization_of(attempt, code))
        try:
            failure_oracle.provisioning_met(alone, what, after)
        except (LeftOut, Unmet):
            # What was seen so far is searched all the same.
            if number == 0:
                raise
            break

    hidden(world, received, *KINDS, among=world.seen()[before:])


@check("SECRET-07", needs=NEEDS, alone=True)
def refresh_token_follows_no_redirect(world: World) -> None:
    """A merchant that sends the refresh on to another server has it sent there by nobody."""
    with _thief(world) as (thief, what):
        alone = isolated_user(world)
        before = alone.merchant.last_minted()
        due = failure_oracle.soon_due(alone)
        failure_oracle.expire_under([(due, what)])
        due.redeem_once()
        failure_oracle.struck(due, what)

        _got_nothing(thief, alone, before)


@check("SECRET-07", needs=NEEDS)
def assertions_follow_no_redirect(world: World) -> None:
    """A merchant that sends the provisioning on to another server gives it nothing to sign users in with."""
    with _thief(world) as (thief, what):
        alone = isolated_user(world)
        before = alone.merchant.last_minted()
        alone.script(provisioning=what.scripted())
        world.gateway.visit(world.attempt(resource=alone.resource, user=alone.user), wherever=True)
        failure_oracle.provisioning_met(alone, what)
        deadline = time.monotonic() + MOMENT_S
        while len(thief.received) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)

        _got_nothing(thief, alone, before)


def _redeemed_under(due: Due, what: MerchantFault, last: Exchange | None) -> tuple[Due, Exchange]:
    """A redemption that is due while the fault stands; what that takes depends on the last one."""
    done = last is not None and last.status in {200, 410}
    if done:
        # A token that came of an odd answer may count as one for good.
        due = failure_oracle.soon_due(due.alone, due.agent)
    if last is None or done:
        failure_oracle.expire_under([(due, what)])
    else:
        due.alone.short_lived(refresh=what.scripted(), rotate_refresh_tokens=what.rotates)
    due = replace(due, since=failure_oracle.last_of(due.alone))
    return due, failure_oracle.redeem_under_a_fault(due)


@contextmanager
def _thief(world: World) -> Iterator[tuple[Thief, MerchantFault]]:
    """A server that the gateway would trust, and the fault that sends it there."""
    at = urlsplit(world.merchant_api or "")
    if not is_loopback(at.hostname or ""):
        raise LeftOut("a gateway on another machine would not find the server that it is sent to")
    certificate = world.service_certificate if at.scheme == "https" else None
    wire = world.gateway.wire
    with Thief(certificate) as thief, wire.also(thief.url, ca_file=world.ca_file):
        require(wire.send("the other server", get(thief.url))).status(200)
        yield thief, replace(REDIRECT, parameters={"location": thief.url})


def _got_nothing(thief: Thief, alone: IsolatedUser, before: int) -> None:
    """None of what the gateway sent the merchant, or got from it since, is in what the thief received."""
    sent = [
        each
        for entry in alone.received()
        for each in (entry.assertion, entry.subject_token, entry.client_assertion)
    ]
    sent += [
        token.value for token in alone.merchant.tokens(after=before) if token.client_id == alone.client_id
    ]
    secrets = leaks.Hoard(leaks.canary("credential", each) for each in sent if each)
    stolen = [loot for loot in thief.received[1:] if secrets.search(loot.text())]
    expect.that(
        not stolen,
        "what another server received, to which the merchant had redirected",
        expected="no credential",
        got=", ".join(sorted({f"a {loot.method} with one" for loot in stolen})),
    )
