"""What stands from check to check: good tokens, an agent that comes again, and how long things take here."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gateproof.conformance.suite.parties import Agent, Grant
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret

# After this many waits without a single merchant token, provisioning is taken to be broken.
VAIN_WAITS, SHORT_WAIT_S = 3, 0.2
# A log in which all tokens stand holds thousands, of which these are enough.
MOST_JWTS = 2000

if TYPE_CHECKING:
    from gateproof.conformance.kit.gateway.gateway import SignIn


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidTokens:
    """Everything that a redemption takes, and that is known to be good."""

    grant: Grant
    proxy_token: Secret

    @property
    def indicator(self) -> str:
        return self.grant.resource.indicator


@dataclass(frozen=True, kw_only=True, slots=True)
class Renewed:
    """What a refresh gave, None for nothing, and how far the target's clock had been moved then."""

    grant: Grant | None
    offset_s: float


@dataclass(kw_only=True, slots=True)
class ReusedAgent:
    """An agent in a browser that stays signed in, and how many checks have gone through it."""

    agent: Agent
    sign_in: SignIn
    visits: int = 0


@dataclass(kw_only=True, slots=True)
class Logged:
    """What the target had logged before a check that looks for its own: a control tells it once."""

    characters: int = 0
    # True where a part of it could not be had.
    lost: bool = False
    jwts: dict[str, None] = field(default_factory=dict)

    def note(self, characters: int, jwts: Iterable[str]) -> None:
        self.characters += characters
        for each in jwts:
            if len(self.jwts) < MOST_JWTS:
                self.jwts[each] = None


@dataclass(kw_only=True, slots=True)
class WorkerState:
    """What a worker keeps from check to check: good tokens, as long as the target's clock stands still."""

    kept: ValidTokens | None = None
    regular: ReusedAgent | None = None
    renewed: Renewed | None = None
    offset_s: float = 0.0
    redeemed: bool = False
    waited_in_vain: int = 0
    # True once the gateway was waited for to ask a merchant again that it spares, and did not.
    spared_in_vain: bool = False
    token_life_s: float | None = None
    logged: Logged = field(default_factory=Logged)
    # Every core key that was ever seen here, also one that has left the key set since.
    core_keys: list[dict[str, Any]] = field(default_factory=list)
    # Whether provisioning uses a grant of its own; None as long as nobody has waited for that in vain.
    provisions_apart: bool | None = None
    # When the merchant last failed the gateway, on a steady clock: it may be left in peace since then.
    troubled_at: float = float("-inf")
    # The same of an earlier phase of the run.
    troubled_before: float = float("-inf")
    # Others of this run use the same merchant meanwhile, and may put it to trouble.
    in_company: bool = False
    # Whether a user's sessions in two browsers were seen to live side by side; None before anybody looked.
    side_by_side: bool | None = None

    def note_trouble(self) -> None:
        """The merchant fails the gateway now, or is about to."""
        self.troubled_at = time.monotonic()

    def note(self, answer: Exchange, *, in_vain: bool) -> None:
        """A redemption's last answer, and whether it was still one to wait for."""
        self.redeemed |= answer.status == 200
        self.waited_in_vain += in_vain

    def note_keys(self, keys: Iterable[dict[str, Any]]) -> None:
        """These keys are in the core key set now."""
        self.core_keys += [key for key in keys if key not in self.core_keys]

    def note_life(self, seconds: float) -> None:
        """An access token of the gateway's lives as long as this."""
        self.token_life_s = seconds if self.token_life_s is None else min(self.token_life_s, seconds)

    def patience_s(self, longest_s: float) -> float:
        """How long provisioning is waited for.

        Where several waits were in vain and nothing ever redeemed, waiting as long for each of the hundred
        checks to come would cost a quarter of an hour.
        """
        return longest_s if self.redeemed or self.waited_in_vain < VAIN_WAITS else SHORT_WAIT_S
