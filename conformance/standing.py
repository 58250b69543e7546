"""A user's tokens at home that have just redeemed: many checks tamper with them, and none uses them up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.claims import require
from conformance.parties import Grant
from conformance.wire.exchange import Exchange
from conformance.wire.secret import Secret

# After this many waits without a single merchant token, provisioning is taken to be broken.
VAIN_WAITS, SHORT_WAIT_S = 3, 0.2

if TYPE_CHECKING:
    from conformance.regular import Regular
    from conformance.world import World


@dataclass(frozen=True, kw_only=True, slots=True)
class Redeemable:
    """Everything that a redemption takes, and that is known to be good."""

    grant: Grant
    proxy_token: Secret

    @property
    def indicator(self) -> str:
        return self.grant.resource.indicator


@dataclass(kw_only=True, slots=True)
class Standing:
    """What a worker keeps from check to check: good tokens, as long as the target's clock stands still."""

    kept: Redeemable | None = None
    offset_s: float = 0.0
    redeemed: bool = False
    waited_in_vain: int = 0
    token_life_s: float | None = None
    # Whether provisioning uses a grant of its own; None as long as nobody has waited for that in vain.
    provisions_apart: bool | None = None

    def note(self, answer: Exchange, *, in_vain: bool) -> None:
        """A redemption's last answer, and whether it was still one to wait for."""
        self.redeemed |= answer.status == 200
        self.waited_in_vain += in_vain

    def note_life(self, seconds: float) -> None:
        """An access token of the gateway's lives as long as this."""
        self.token_life_s = seconds if self.token_life_s is None else min(self.token_life_s, seconds)

    def patience_s(self, longest_s: float) -> float:
        """How long provisioning is waited for.

        Where several waits were in vain and nothing ever redeemed, waiting as long for each of the hundred
        checks to come would cost a quarter of an hour.
        """
        return longest_s if self.redeemed or self.waited_in_vain < VAIN_WAITS else SHORT_WAIT_S

    regular: Regular | None = None


def redeemable(world: World) -> Redeemable:
    """Tokens at home that redeemed with 200 in this very check.

    They are kept, because a sign-in for each near miss would cost more than all the near misses. A check that
    finds them spoilt makes new ones, so no check depends on what another did.
    """
    standing = world.standing
    if standing.kept is not None and standing.offset_s == world.clock.offset_s:
        kept = _introduced(world, standing.kept)
        if world.redeem(kept.grant, kept.proxy_token).status == 200:
            return kept
    fresh = Redeemable(grant=world.grant(), proxy_token=world.proxy_token())
    require(world.redeem(fresh.grant, fresh.proxy_token)).status(200)
    standing.kept, standing.offset_s = fresh, world.clock.offset_s
    return fresh


def _introduced(world: World, kept: Redeemable) -> Redeemable:
    """Lets this check's reports hide what is secret in it, and name what is not."""
    keyring, grant = world.gateway.keyring, kept.grant
    world.home()
    for secret in (grant.access_token, grant.id_token, grant.refresh_token, grant.agent.client_secret):
        keyring.add(secret)
    keyring.add(kept.proxy_token)
    keyring.public(grant.agent.client_id)
    return kept
