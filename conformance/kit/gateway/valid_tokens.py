"""A user's tokens at home that have just redeemed: many checks tamper with them, and none uses them up."""

from __future__ import annotations

import time
from dataclasses import dataclass

from gateproof.conformance.kit.gateway.worker_state import ValidTokens
from gateproof.conformance.kit.gateway.world import World

# So often tokens are looked at that a campaign builds on.
_LOOKED_AT_EVERY_S = 30.0


def redeemable(world: World) -> ValidTokens:
    """Tokens at home that redeemed with 200 in this very check.

    They are kept, because a sign-in for each near miss would cost more than all the near misses. A check that
    finds them spoilt makes new ones, so no check depends on what another did.
    """
    standing = world.standing
    if standing.kept is not None and standing.offset_s == world.clock.offset_s:
        kept = _introduced(world, standing.kept)
        if world.backend.redeem_once_provisioned(kept.grant, kept.proxy_token).status == 200:
            return kept
    fresh = ValidTokens(grant=world.grant(), proxy_token=world.backend.proxy_token())
    world.backend.require_redeemed(fresh.grant, fresh.proxy_token)
    standing.kept, standing.offset_s = fresh, world.clock.offset_s
    return fresh


@dataclass(kw_only=True, slots=True)
class RefreshingTokens:
    """Good tokens for as long as a campaign goes on: it may outlast theirs."""

    world: World
    _good: ValidTokens | None = None
    _looked_at: float = float("-inf")

    def now(self) -> ValidTokens:
        if self._good is None or time.monotonic() > self._looked_at + _LOOKED_AT_EVERY_S:
            self._good, self._looked_at = redeemable(self.world), time.monotonic()
        return self._good


def _introduced(world: World, kept: ValidTokens) -> ValidTokens:
    """Lets this check's reports hide what is secret in it, and name what is not."""
    keyring, grant = world.gateway.keyring, kept.grant
    world.projects.home()
    for secret in (grant.access_token, grant.id_token, grant.refresh_token, grant.agent.client_secret):
        keyring.add(secret)
    keyring.add(kept.proxy_token)
    keyring.public(grant.agent.client_id)
    return kept
