"""What every process of a run has to know."""

from __future__ import annotations

from dataclasses import dataclass

from gateproof.conformance.run.context.base import Context
from gateproof.conformance.run.context.merchant_access import MerchantAccess
from gateproof.conformance.suite.parties import User
from gateproof.conformance.targets.model import GatewayTarget


@dataclass(frozen=True, kw_only=True)
class GatewayContext(Context):
    """One target, one fake world: the same for every worker of a run."""

    target: GatewayTarget
    users: tuple[User, ...]
    merchant: MerchantAccess | None
    clock_offset_s: float
    ca_file: str
    service_certificate: tuple[str, str]
    # What the merchant minted up to this ordinal belongs to runs before.
    minted_before: int = 0
    # When the merchant failed the target in an earlier phase of the run, if it did.
    troubled_at: float | None = None
    # How many usual registrations the target has accepted in an earlier phase.
    registrations: int = 0
    # Digests of tokens that the suite sent in an address or a cookie in an earlier phase.
    misplaced: tuple[str, ...] = ()
