"""A merchant of the harness beside the first one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gateproof.fakes.merchant.admin import MerchantAdmin


@dataclass(frozen=True, kw_only=True, slots=True)
class MerchantSite:
    """How it is controlled, and the addresses that a Resource there is created with."""

    admin: MerchantAdmin
    endpoints: Mapping[str, str]

    @property
    def issuer(self) -> str:
        return self.endpoints["issuer"]

    def addresses(self) -> frozenset[str]:
        """What an assertion that is made for this merchant names as its audience."""
        return frozenset(self.endpoints[name].rstrip("/") for name in ("issuer", "token_endpoint"))
