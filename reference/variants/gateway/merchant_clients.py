"""Other legal ways to authenticate at the merchant."""

from __future__ import annotations

from gateproof.reference.gateway.records import Resource
from gateproof.reference.gateway.vault import Vault
from gateproof.reference.variants.variant import variant


class _Public(Vault):
    """Sends only the client ID and the assertion about the user, as a public client of the merchant."""

    def _client_authentication(self, resource: Resource) -> dict[str, str]:
        return {"client_id": resource.merchant.client_id}


VARIANTS = (
    variant(
        "public-client-of-the-merchant: requests to the merchant have no client assertion",
        vault_factory=_Public,
    ),
)
