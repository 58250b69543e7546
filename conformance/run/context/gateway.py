"""The context of a run against a gateway."""

from __future__ import annotations

from dataclasses import dataclass

from gateproof.conformance.run.context.base import Context
from gateproof.conformance.run.context.merchant_access import MerchantAccess
from gateproof.conformance.suite.parties import User
from gateproof.conformance.targets.model import GatewayTarget


@dataclass(frozen=True, kw_only=True)
class GatewayContext(Context):
    """One target and one set of fakes, the same for every worker of a run."""

    target: GatewayTarget
    users: tuple[User, ...]
    merchant: MerchantAccess | None
    clock_offset_s: float
    ca_file: str
    service_certificate: tuple[str, str]
    # Merchant tokens up to this ordinal were issued in earlier runs.
    minted_before: int = 0
    # When the fake merchant last failed towards the target in an earlier phase; None if never.
    merchant_failed_at: float | None = None
    # The number of usual registrations that the target accepted in earlier phases.
    registrations: int = 0
    # Digests of tokens that the suite sent in a URL or a cookie in an earlier phase.
    misplaced: tuple[str, ...] = ()
