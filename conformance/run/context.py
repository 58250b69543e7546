"""What every process of a run has to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gateproof.conformance.campaign import Campaign
from gateproof.conformance.parties import User
from gateproof.conformance.target.model import GatewayTarget
from gateproof.conformance.wire.pace import Pace
from gateproof.conformance.wire.place import Place
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.merchant.admin import MerchantAdmin


@dataclass(frozen=True, kw_only=True)
class MerchantAccess:
    """How to script the fake merchant, and how its public face is reached."""

    admin_url: str
    admin_token: Secret
    endpoints: Mapping[str, str]
    ca_file: str | None
    place: Place

    def admin(self) -> MerchantAdmin:
        return MerchantAdmin(self.admin_url, self.admin_token.reveal())


@dataclass(frozen=True, kw_only=True)
class RunContext:
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
