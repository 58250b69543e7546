"""What every process of a run has to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gateproof.conformance.run.context.merchant_access import MerchantAccess
from gateproof.conformance.suite.campaign import Campaign
from gateproof.conformance.suite.parties import User
from gateproof.conformance.targets.model import GatewayTarget
from gateproof.conformance.wire.rate_limit import Pace


@dataclass(frozen=True, kw_only=True)
class GatewayContext:
    """One target, one fake world: the same for every worker of a run."""

    target: GatewayTarget
    users: tuple[User, ...]
    merchant: MerchantAccess | None
    capabilities: frozenset[str]
    missing: Mapping[str, str] = field(default_factory=dict)
    seed: int
    run_id: str
    clock_offset_s: float
    ca_file: str
    service_certificate: tuple[str, str]
    # How much is generated for each rule.
    examples: int = 20
    # The checks that get a part of that only.
    in_passing: frozenset[str] = frozenset()
    # What holds the requests of all processes back.
    pace: Pace | None = None
    # Where what is generated goes on for a time, instead of so many examples.
    campaign: Campaign | None = None
    # A stored failure that is to be seen again.
    replay: Mapping[str, Any] | None = None
    # What the merchant minted up to this ordinal belongs to runs before.
    minted_before: int = 0
    # When the merchant failed the target in an earlier phase of the run, if it did.
    troubled_at: float | None = None
    # Whether results come with the exchanges that they rest on.
    shows_exchanges: bool = True
