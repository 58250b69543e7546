"""A second merchant of the harness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gateproof.fakes.merchant.admin import MerchantAdmin


@dataclass(frozen=True, kw_only=True, slots=True)
class MerchantSite:
    """Its admin client, and the addresses for a Resource of this merchant."""

    admin: MerchantAdmin
    endpoints: Mapping[str, str]

    @property
    def issuer(self) -> str:
        return self.endpoints["issuer"]

    def addresses(self) -> frozenset[str]:
        """The audiences that an assertion for this merchant may name."""
        return frozenset(self.endpoints[name].rstrip("/") for name in ("issuer", "token_endpoint"))
