"""Other legal ways to say to a merchant who asks."""

from __future__ import annotations

from gateproof.reference.gateway.records import Resource
from gateproof.reference.gateway.vault import Vault
from gateproof.reference.variants.variant import variant


class _Public(Vault):
    """A public client of the merchant: an assertion about a user says enough, and nothing else is said."""

    def _client_authentication(self, resource: Resource) -> dict[str, str]:
        return {"client_id": resource.merchant.client_id}


VARIANTS = (
    variant(
        "public-client-of-the-merchant: no request to the merchant carries a client assertion",
        vault_at_work=_Public,
    ),
)
