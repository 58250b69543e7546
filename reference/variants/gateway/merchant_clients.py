"""Other legal ways to authenticate at the merchant."""

from __future__ import annotations

from typing import Any, cast

from gateproof.reference.gateway.merchants import Merchants
from gateproof.reference.gateway.policy.vault import MerchantAnswer
from gateproof.reference.gateway.records import MerchantPlace, Resource
from gateproof.reference.gateway.vault import Vault
from gateproof.reference.variants.variant import variant

ASSERTION = ("client_assertion", "client_assertion_type")


class _Public(Vault):
    """Sends only the client ID and the assertion about the user, as a public client of the merchant."""

    def _client_authentication(self, resource: Resource) -> dict[str, str]:
        return {"client_id": resource.merchant.client_id}


class BareRefreshes:
    """Removes the client assertion from refreshes."""

    left_out: tuple[str, ...] = ASSERTION

    def __init__(self, merchants: Merchants) -> None:
        self._merchants = merchants

    async def ask(self, merchant: MerchantPlace, form: dict[str, str]) -> MerchantAnswer:
        if form["grant_type"] == "refresh_token":
            form = {name: value for name, value in form.items() if name not in self.left_out}
        return await self._merchants.ask(merchant, form)


class NamelessRefreshes(BareRefreshes):
    left_out = (*ASSERTION, "client_id")


class RefreshesUnauthenticated(Vault):
    asking: type[BareRefreshes] = BareRefreshes

    def __init__(self, *, merchants: Merchants, **parts: Any) -> None:
        super().__init__(merchants=cast("Merchants", self.asking(merchants)), **parts)


class RefreshesWithoutClientId(RefreshesUnauthenticated):
    asking = NamelessRefreshes


VARIANTS = (
    variant(
        "public-client-of-the-merchant: requests to the merchant have no client assertion",
        vault_factory=_Public,
    ),
    variant(
        "refresh-without-authentication: the gateway authenticates at the merchant when it requests a token, "
        "but not when it refreshes one",
        vault_factory=RefreshesUnauthenticated,
    ),
    variant(
        "refresh-without-a-client: the gateway sends a refresh to the merchant without client authentication "
        "and client ID",
        vault_factory=RefreshesWithoutClientId,
    ),
)
