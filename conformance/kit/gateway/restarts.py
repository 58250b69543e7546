"""A target that was killed and started again, and what it acknowledged before."""

from __future__ import annotations

import time
from dataclasses import replace

from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.isolated_user import isolated_user, require_renewed
from gateproof.conformance.kit.gateway.worker_state import Acknowledged
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import Unavailable, require
from gateproof.conformance.suite.parties import Attempt, Grant, Project, ProxyClient
from gateproof.conformance.wire.secret import Secret

# Merchant tokens live for two seconds here; a store that counts in seconds may keep one for one more.
LIFE_S, PASSED_S = 2, 3.5
HOUR_S = 3600


def after_a_restart(world: World) -> tuple[World, Acknowledged]:
    """The world of an instance that was killed and started again, and what it acknowledged before.

    The instance is restarted once, for all checks of a worker.
    """
    instance = world.instance()
    there = instance.world()
    if (kept := world.worker_state.acknowledged) is not None:
        _register_names(there, kept)
        return there, kept
    kept = _acknowledged(there)
    why = instance.kill_and_start()
    require.step_of("life of the process").that(
        not why, "start after the process was killed", expected="a target that answers", got=why
    )
    world.worker_state.acknowledged = kept
    return there, kept


def _acknowledged(there: World) -> Acknowledged:
    refreshed, refreshed_at, expired = _refreshed(there)
    revoked = _revoked(there)
    pending, approved = _held(there)
    attempt = there.attempt()
    spent = there.code_for(attempt)
    grant = there.grant_of(spent, attempt)
    proxy_token = there.backend.proxy_token()
    there.backend.require_redeemed(grant, proxy_token)
    return Acknowledged(
        grant=grant,
        proxy_token=proxy_token,
        spent=spent,
        refreshed=refreshed,
        refreshed_at=refreshed_at,
        expired=expired,
        revoked=None if revoked is None else revoked[0],
        revoked_proxy_token=None if revoked is None else revoked[1],
        pending=pending,
        approved=approved,
    )


def _refreshed(there: World) -> tuple[Grant, Project, Secret]:
    """A user whose merchant token was refreshed once, so that the merchant has rotated the refresh token.

    The new token expires two seconds later; those to come live for an hour.
    """
    alone = isolated_user(there)
    alone.script(access_token_lifetime_s=LIFE_S)
    grant, proxy_token = alone.grant(), alone.proxy_token()
    first = there.backend.require_redeemed(grant, proxy_token)
    time.sleep(PASSED_S)
    again = there.backend.redeem_once_provisioned(grant, proxy_token)
    require_renewed(again, first.member("access_token"))
    alone.script(access_token_lifetime_s=HOUR_S)
    token = require.text(again.member("access_token"), "access_token of the redemption")
    return grant, alone.project, there.gateway.keyring.secret("merchant_access_token", token)


def _revoked(there: World) -> tuple[ProxyClient, Secret] | None:
    """A Proxy client that was revoked, and a Proxy token that it got before."""
    project = there.projects.home()
    try:
        client = console.new_proxy_client(there, project)
        token = there.backend.proxy_token(replace(project, proxy_client=client))
        console.revoke(there, client)
    except Unavailable:
        return None
    answer = there.gateway.proxy_token(client)
    require.step_of("Proxy token request of a revoked client")(answer).status(401)
    return client, token


def _held(there: World) -> tuple[Attempt | None, Attempt | None]:
    """A Pending agent, and one that was approved after it had been Pending."""
    try:
        resource = there.projects.holding_resource()
        attempts = [there.attempt(there.agents.new(), resource=resource) for _ in range(2)]
        for attempt in attempts:
            visit = there.gateway.visit(attempt, wherever=True)
            require.that(
                visit.ended() and not visit.codes(),
                "first authorization in a holding Project",
                expected="no code",
                got=visit.outcome(),
            )
        there.projects.approve_agent(attempts[1].agent, resource)
    except Unavailable:
        return None, None
    return attempts[0], attempts[1]


def _register_names(there: World, kept: Acknowledged) -> None:
    """Registers the secrets for redaction, and the names that may be shown."""
    keyring = there.gateway.keyring
    there.projects.home()
    for grant in (kept.grant, kept.refreshed):
        for secret in (grant.access_token, grant.id_token, grant.refresh_token, grant.agent.client_secret):
            keyring.add(secret)
        keyring.public(grant.agent.client_id, grant.resource.id, grant.resource.indicator)
    for secret in (kept.proxy_token, kept.expired, kept.spent.code, kept.spent.verifier):
        keyring.add(secret)
    if kept.revoked is not None and kept.revoked_proxy_token is not None:
        keyring.public(kept.revoked.id)
        keyring.add(kept.revoked.secret)
        keyring.add(kept.revoked_proxy_token)
    for attempt in (kept.pending, kept.approved):
        if attempt is not None:
            keyring.add(attempt.agent.client_secret)
            keyring.public(attempt.agent.client_id, attempt.resource.id, attempt.resource.indicator)
