"""Secrets in the gateway's answers while the merchant fails."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import urlsplit

from gateproof.conformance.checks.gateway._secrecy import no_secrets_in_answers
from gateproof.conformance.faults.merchant_answers import NONSENSE, REDIRECT, ROTATED, TROUBLE, MerchantFault
from gateproof.conformance.kit.gateway import failure_oracle
from gateproof.conformance.kit.gateway.failure_oracle import ExpiringToken
from gateproof.conformance.kit.gateway.isolated_user import IsolatedUser, isolated_user
from gateproof.conformance.kit.gateway.own_names import by_name, suffix_of
from gateproof.conformance.kit.gateway.received import Received
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unmet, expect, require
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.targets.party_names import ATTACKER
from gateproof.conformance.wire import leaks
from gateproof.conformance.wire.agent import get
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.attacker_host import AttackerHost
from gateproof.fakes.serving import is_loopback

NEEDS = ["merchant", "faults"]
KINDS = ("merchant_refresh_token", "merchant_access_token", "proxy_token", "proxy_client_secret")
# How long a gateway that provisions in the background may take from one request to the next.
MOMENT_S = 0.3
Faults = Mapping[str, MerchantFault]
GROUPS: Mapping[str, Faults] = {"trouble": {**TROUBLE, **ROTATED}, "nonsense": NONSENSE}


@check("SECRET-06", needs=NEEDS, alone=True, cases=GROUPS)
def redemption_under_a_fault_shows_no_secret(world: World, received: Received, case: Faults) -> None:
    """An error to the backend contains no secret, whatever the merchant answers to the refresh.

    If the gateway makes no refresh under one of the faults, only the answers so far are searched.
    """
    due, answer = failure_oracle.expiring_soon(isolated_user(world, own=True)), None
    refused: list[Exchange] = []
    for what in case.values():
        due, answer = _redeemed_under(due, what, answer)
        refused += [answer] if answer.status != 200 else []
        if not due.refreshes():
            break
        failure_oracle.count_fault_of(due, what)

    if not refused:
        raise LeftOut("the gateway refused no redemption under any fault")
    no_secrets_in_answers(world, received, *KINDS, among=refused)


@check("SECRET-06", needs=NEEDS, cases=GROUPS)
def sign_in_under_a_fault_shows_no_secret(world: World, received: Received, case: Faults) -> None:
    """No page, redirect or answer contains a secret, whatever the merchant answers in place of a token.

    A gateway that accepted one of the answers as a token need not request another at the next sign-in.
    """
    alone, agent = isolated_user(world, own=True), world.agents.new()
    before = len(world.seen())
    for number, what in enumerate(case.values()):
        alone.script(provisioning=what.scripted(), rotate_refresh_tokens=what.rotates)
        after = failure_oracle.last_of(alone)
        attempt = world.attempt(agent, resource=alone.resource, user=alone.user)
        code = world.gateway.visit(attempt, wherever=True).parameter("code")
        if code is not None:
            world.gateway.exchange(world.authorization_of(attempt, code))
        try:
            failure_oracle.wait_for_provisioning_fault(alone, what, after)
        except (LeftOut, Unmet):
            # What was received so far is still searched.
            if number == 0:
                raise
            break

    no_secrets_in_answers(world, received, *KINDS, among=world.seen()[before:])


@check("SECRET-07", needs=NEEDS, alone=True)
def refresh_token_follows_no_redirect(world: World) -> None:
    """If the merchant redirects a refresh to another server, the refresh token is not sent there."""
    with _other_server(world) as (attacker, what):
        alone = isolated_user(world, own=True)
        before = alone.merchant.last_minted()
        due = failure_oracle.expiring_soon(alone)
        failure_oracle.expire_under([(due, what)])
        due.redeem_once()
        failure_oracle.count_fault_of(due, what)

        _got_nothing(attacker, alone, before)


@check("SECRET-07", needs=NEEDS)
def assertions_follow_no_redirect(world: World) -> None:
    """If the merchant redirects a provisioning request, no assertion is sent to the other server."""
    with _other_server(world) as (attacker, what):
        alone = isolated_user(world, own=True)
        before = alone.merchant.last_minted()
        alone.script(provisioning=what.scripted())
        world.gateway.visit(world.attempt(resource=alone.resource, user=alone.user), wherever=True)
        failure_oracle.wait_for_provisioning_fault(alone, what)
        deadline = time.monotonic() + MOMENT_S
        while len(attacker.received) < 2 and time.monotonic() < deadline:
            wait_for(Cause.REQUEST, 0.05)

        _got_nothing(attacker, alone, before)


def _redeemed_under(
    due: ExpiringToken, what: MerchantFault, last: Exchange | None
) -> tuple[ExpiringToken, Exchange]:
    """Redeems during the fault; after a 200 or 410, the user first gets a new token that then expires."""
    done = last is not None and last.status in {200, 410}
    if done:
        # A token from an odd answer may have been accepted as a good one.
        due = failure_oracle.expiring_soon(due.alone, due.agent)
    if last is None or done:
        failure_oracle.expire_under([(due, what)])
    else:
        due.alone.short_lived(refresh=what.scripted(), rotate_refresh_tokens=what.rotates)
    due = replace(due, since=failure_oracle.last_of(due.alone))
    return due, failure_oracle.redeem_during_fault(due)


@contextmanager
def _other_server(world: World) -> Iterator[tuple[AttackerHost, MerchantFault]]:
    """A server that the gateway would trust, and the fault that redirects to it."""
    at = urlsplit(world.merchant_api or "")
    if not is_loopback(at.hostname or "") and not suffix_of(world):
        raise LeftOut("a gateway on another machine cannot reach the server to which it is redirected")
    certificate = world.service_certificate if at.scheme == "https" else None
    wire = world.gateway.wire
    with AttackerHost(certificate) as attacker:
        url = by_name(world, attacker.url, ATTACKER["gateway"])
        with wire.also(url, ca_file=world.ca_file):
            require(wire.send("the other server", get(url))).status(200)
            yield attacker, replace(REDIRECT, parameters={"location": url})


def _got_nothing(attacker: AttackerHost, alone: IsolatedUser, before: int) -> None:
    """The other server received no credential that the gateway sent to the merchant or got from it."""
    sent = [
        each
        for entry in alone.received()
        for each in (entry.assertion, entry.subject_token, entry.client_assertion)
    ]
    sent += [
        token.value for token in alone.merchant.tokens(after=before) if token.client_id == alone.client_id
    ]
    secrets = leaks.CanarySet(leaks.canary("credential", each) for each in sent if each)
    leaking = [hit for hit in attacker.received[1:] if secrets.search(hit.text())]
    expect.that(
        not leaking,
        "what another server received, to which the merchant had redirected",
        expected="no credential",
        got=", ".join(sorted({f"a {hit.method} with one" for hit in leaking})),
    )
