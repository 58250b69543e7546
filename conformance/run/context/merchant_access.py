"""How a run reaches the fake merchant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gateproof.conformance.wire.route import Place
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.merchant.admin import MerchantAdmin


@dataclass(frozen=True, kw_only=True)
class MerchantAccess:
    """How to script the fake merchant, and how to reach its public endpoints."""

    admin_url: str
    admin_token: Secret
    endpoints: Mapping[str, str]
    ca_file: str | None
    place: Place

    def admin(self) -> MerchantAdmin:
        return MerchantAdmin(self.admin_url, self.admin_token.reveal())
