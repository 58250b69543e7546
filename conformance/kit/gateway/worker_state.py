"""State that a worker keeps between checks: valid tokens, a reused agent, and measured times."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gateproof.conformance.kit.gateway.misplaced_tokens import MisplacedTokens
from gateproof.conformance.suite.parties import Agent, Grant
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret

# After this many waits without a single merchant token, provisioning is considered broken.
MAX_USELESS_WAITS, SHORT_WAIT_S = 3, 0.2
# A log that contains all tokens has thousands; this many are enough.
MOST_JWTS = 2000

if TYPE_CHECKING:
    from gateproof.conformance.kit.gateway.gateway import SignIn


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidTokens:
    """Everything that a redemption needs; it was redeemed before."""

    grant: Grant
    proxy_token: Secret

    @property
    def indicator(self) -> str:
        return self.grant.resource.indicator


@dataclass(frozen=True, kw_only=True, slots=True)
class Renewed:
    """The result of a refresh (None if it gave nothing) and the offset of the target's clock then.

    After `until`, on the monotonic clock, the access token may have expired.
    """

    grant: Grant | None
    offset_s: float
    until: float


@dataclass(kw_only=True, slots=True)
class ReusedAgent:
    """An agent in a signed-in browser, and how many checks have used it."""

    agent: Agent
    sign_in: SignIn
    visits: int = 0


@dataclass(kw_only=True, slots=True)
class Logged:
    """What the target logged before a check that looks for its own entries: logs are read only once."""

    characters: int = 0
    # True if a part of the log could not be read.
    lost: bool = False
    jwts: dict[str, None] = field(default_factory=dict)

    def note(self, characters: int, jwts: Iterable[str]) -> None:
        self.characters += characters
        for each in jwts:
            if len(self.jwts) < MOST_JWTS:
                self.jwts[each] = None


# A gateway that has accepted this many registrations may refuse more of them.
MANY_REGISTRATIONS = 20


@dataclass(kw_only=True, slots=True)
class WorkerState:
    """State of a worker. The tokens are valid only as long as the target's clock is not moved."""

    kept: ValidTokens | None = None
    reused_agent: ReusedAgent | None = None
    renewed: Renewed | None = None
    # Whether the gateway takes token requests in JSON; None until it was tried.
    takes_json_token_requests: bool | None = None
    offset_s: float = 0.0
    redeemed: bool = False
    failed_waits: int = 0
    # True after a wait that did not help, for a gateway that seemed to be in a back-off from its merchant.
    backoff_wait_failed: bool = False
    token_life_s: float | None = None
    logged: Logged = field(default_factory=Logged)
    # Tokens that the suite sent in a URL or a cookie, also in an earlier phase.
    misplaced: MisplacedTokens = field(default_factory=MisplacedTokens)
    # Every core key seen so far, including those that have left the key set.
    core_keys: list[dict[str, Any]] = field(default_factory=list)
    # True if provisioning uses a separate grant; None while this is unknown.
    separate_provisioning_grant: bool | None = None
    # When the merchant last failed a request of the gateway (monotonic clock): a back-off may have started
    # then.
    merchant_failed_at: float = float("-inf")
    # The same for an earlier phase of the run.
    merchant_failed_before: float = float("-inf")
    # True if other workers use the same merchant at the same time; they may make it fail.
    shares_merchant: bool = False
    # True if one user can have sessions in two browsers at once; None while this is unknown.
    parallel_sessions: bool | None = None
    # How many usual registrations the gateway has accepted, also in an earlier phase.
    registrations: int = 0

    def is_at_a_limit(self, registered: Exchange) -> bool:
        """True if the gateway may have refused this usual registration because of a limit on their number."""
        refused = (
            registered.status is not None and 400 <= registered.status < 500 and registered.status != 429
        )
        return refused and self.registrations >= MANY_REGISTRATIONS

    def note_merchant_failure(self) -> None:
        """Call this when the merchant fails the gateway or is about to."""
        self.merchant_failed_at = time.monotonic()

    def note(self, answer: Exchange, *, in_vain: bool) -> None:
        """Records the last response to a redemption, and whether it still meant "not yet"."""
        self.redeemed |= answer.status == 200
        self.failed_waits += in_vain

    def note_keys(self, keys: Iterable[dict[str, Any]]) -> None:
        """Records the current keys of the core key set."""
        self.core_keys += [key for key in keys if key not in self.core_keys]

    def note_life(self, seconds: float) -> None:
        """Records the lifetime of a gateway access token."""
        self.token_life_s = seconds if self.token_life_s is None else min(self.token_life_s, seconds)

    def patience_s(self, longest_s: float) -> float:
        """How long to wait for provisioning.

        The time is short after several waits without any success: long waits in every check would add a
        quarter of an hour.
        """
        return longest_s if self.redeemed or self.failed_waits < MAX_USELESS_WAITS else SHORT_WAIT_S
