"""Gateways that wait as long as a merchant's Retry-After says while a caller waits for them."""

from __future__ import annotations

import asyncio
import time
from email.utils import parsedate_to_datetime
from typing import Any, cast

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.merchants import Merchants
from gateproof.reference.gateway.policy.vault import MerchantAnswer
from gateproof.reference.gateway.records import MerchantPlace
from gateproof.reference.gateway.vault import Vault


class Obedient:
    """Repeats a request once after the time in the merchant's Retry-After."""

    statuses: tuple[int, ...] = (429, 503)
    dates_alone = False

    def __init__(self, merchants: Merchants) -> None:
        self._merchants = merchants

    async def ask(self, merchant: MerchantPlace, form: dict[str, str]) -> MerchantAnswer:
        answer = await self._merchants.ask(merchant, form)
        said = answer.retry_after
        if answer.status not in self.statuses or said is None or (said.isdigit() and self.dates_alone):
            return answer
        await asyncio.sleep(_pause_s(said))
        return await self._merchants.ask(merchant, form)


class ObedientToDates(Obedient):
    statuses = (503,)
    dates_alone = True


class Waits(Vault):
    asking: type[Obedient] = Obedient

    def __init__(self, *, merchants: Merchants, **parts: Any) -> None:
        super().__init__(merchants=cast("Merchants", self.asking(merchants)), **parts)


class WaitsForDates(Waits):
    asking = ObedientToDates


def _pause_s(said: str) -> float:
    if said.isdigit():
        return float(said)
    return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())


DEFECTS = (
    defect(
        "long-pause-waited-for (VAULT-06 VAULT-10): If the merchant sends Retry-After, the sign-in or "
        "redemption waits that long and then retries.",
        vault_factory=Waits,
    ),
    defect(
        "pause-until-a-date-waited-for (VAULT-06 VAULT-10): If the merchant sends a 503 with a date in "
        "Retry-After, the sign-in or redemption waits until then and retries.",
        vault_factory=WaitsForDates,
    ),
)
