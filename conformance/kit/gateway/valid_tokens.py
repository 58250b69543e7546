"""Tokens that were redeemed a moment ago; many checks send altered copies, which do not use them up."""

from __future__ import annotations

import time
from dataclasses import dataclass

from gateproof.conformance.kit.gateway.worker_state import ValidTokens
from gateproof.conformance.kit.gateway.world import World

# How often a campaign tests whether its tokens still redeem.
_TEST_EVERY_S = 30.0


def valid_tokens(world: World) -> ValidTokens:
    """Tokens for the home Project that redeemed with 200 in this check.

    They are kept between checks, because sign-ins are slow. If they do not redeem any more, new ones are
    made, so no check depends on another.
    """
    worker_state = world.worker_state
    if worker_state.kept is not None and worker_state.offset_s == world.clock.offset_s:
        kept = _with_names_registered(world, worker_state.kept)
        if world.backend.redeem_once_provisioned(kept.grant, kept.proxy_token).status == 200:
            return kept
    fresh = ValidTokens(grant=world.grant(), proxy_token=world.backend.proxy_token())
    world.backend.require_redeemed(fresh.grant, fresh.proxy_token)
    worker_state.kept, worker_state.offset_s = fresh, world.clock.offset_s
    return fresh


@dataclass(kw_only=True, slots=True)
class RefreshingTokens:
    """Valid tokens during a long campaign: expired ones are replaced."""

    world: World
    _good: ValidTokens | None = None
    _tested_at: float = float("-inf")

    def now(self) -> ValidTokens:
        if self._good is None or time.monotonic() > self._tested_at + _TEST_EVERY_S:
            self._good, self._tested_at = valid_tokens(self.world), time.monotonic()
        return self._good


def _with_names_registered(world: World, kept: ValidTokens) -> ValidTokens:
    """Registers the secrets for redaction and the client_id as a public name."""
    keyring, grant = world.gateway.keyring, kept.grant
    world.projects.home()
    for secret in (grant.access_token, grant.id_token, grant.refresh_token, grant.agent.client_secret):
        keyring.add(secret)
    keyring.add(kept.proxy_token)
    keyring.public(grant.agent.client_id)
    return kept
