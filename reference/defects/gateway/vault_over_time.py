"""Gateways whose vault fails after some refreshes, sign-ins, days or users."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.defects.gateway.vault_expiry import without_expires_at
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy import vault
from gateproof.reference.gateway.policy.vault import MerchantAnswer, Step, Verdict
from gateproof.reference.gateway.records import Resource, VaultEntry, VaultKey
from gateproof.reference.gateway.vault import Vault
from gateproof.reference.outcomes import Refusal

DAY_S = 86_400
REFRESHES, ROOM = 4, 30


class Origins:
    """The entry of the sign-in and the number of refreshes since, for each merchant token."""

    def __init__(self) -> None:
        self._of: dict[str, tuple[VaultEntry, int]] = {}

    def of(self, entry: VaultEntry) -> tuple[VaultEntry, int]:
        return self._of.get(entry.access_token, (entry, 0))

    def refreshed(self, old: VaultEntry, new: VaultEntry) -> VaultEntry:
        first, count = self.of(old)
        self._of[new.access_token] = first, count + 1
        return new


def from_the_sign_in_on(step: Callable[[VaultEntry, int, VaultEntry, float], Step]) -> dict[str, Any]:
    """The step of a redemption depends on the entry of the sign-in and the number of refreshes since."""
    origins = Origins()
    return {
        "step": lambda entry, now: step(*origins.of(entry), entry, now),
        "refreshed_entry": lambda old, answer, now: origins.refreshed(
            old, vault.refreshed_entry(old, answer, now)
        ),
    }


def a_few_times(_first: VaultEntry, count: int, entry: VaultEntry, now: float) -> Step:
    honest = vault.step(entry, now)
    return "reauthenticate" if honest == "refresh" and count >= REFRESHES else honest


def fifth_with_the_one_before() -> dict[str, Any]:
    """Does not store the refresh token of the fourth refresh, because the column has room for three."""
    origins = Origins()

    def refreshed(old: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
        new = origins.refreshed(old, vault.refreshed_entry(old, answer, now))
        lost = origins.of(new)[1] == REFRESHES
        return replace(new, refresh_token=old.refresh_token) if lost else new

    return {"refreshed_entry": refreshed}


def first_one_where_none_came() -> dict[str, Any]:
    """If a refresh brings no refresh token, stores that of the sign-in."""
    origins = Origins()

    def refreshed(old: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
        first, _ = origins.of(old)
        new = origins.refreshed(old, vault.refreshed_entry(old, answer, now))
        kept = answer.text("refresh_token") or first.refresh_token
        return replace(new, refresh_token=kept)

    return {"refreshed_entry": refreshed}


def life_of_the_first() -> dict[str, Any]:
    """Uses the lifetime from the sign-in after each refresh; answers have no expires_at."""
    origins = Origins()

    def refreshed(old: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
        first, _ = origins.of(old)
        new = origins.refreshed(old, vault.refreshed_entry(old, answer, now))
        if first.expires_at is None:
            return new
        return replace(new, expires_at=now + first.expires_at - first.issued_at)

    return {"refreshed_entry": refreshed, "redemption_answer": without_expires_at}


def later_expiry(
    old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
) -> VaultEntry | None:
    """Keeps the later of the old and the new expiry."""
    new = vault.entry_after_provisioning(old, verdict, answer, now)
    if new is None or old is None or old.needs_reauthentication or verdict != "accepted":
        return new
    dated = [each.expires_at for each in (old, new) if each.expires_at is not None]
    return replace(new, expires_at=max(dated, default=None))


def expired_one_after_a_day(entry: VaultEntry, now: float) -> Step:
    """Ignores the mark of a rejection after a day."""
    marked = entry.needs_reauthentication and entry.expires_at is not None
    return "return" if marked and now > (entry.expires_at or 0) + DAY_S else vault.step(entry, now)


def rejected_for_all(alike: Callable[[VaultKey, VaultKey, Gateway], bool]) -> dict[str, Any]:
    """A rejection also marks all other entries for which `alike` is true."""
    held: list[Gateway] = []

    def around(app: Any, gateway: Gateway) -> Any:
        held[:] = [gateway]
        return app

    def rejected(old: VaultEntry) -> VaultEntry:
        entries = held[0].store.vault
        of = next(key for key, entry in entries.items() if entry is old)
        for key, entry in entries.items():
            if key != of and alike(key, of, held[0]):
                entries[key] = vault.rejected_entry(entry)
        return vault.rejected_entry(old)

    return {"around": around, "rejected_entry": rejected}


def same_user(one: VaultKey, other: VaultKey, _gateway: Gateway) -> bool:
    return (one.project_id, one.sub) == (other.project_id, other.sub)


def same_login_and_indicator(one: VaultKey, other: VaultKey, gateway: Gateway) -> bool:
    known = gateway.store.resources
    indicators = {known[key.resource_id].indicator for key in (one, other) if key.resource_id in known}
    return one.login_id == other.login_id and len(indicators) == 1


class RoomForThirty(Vault):
    """Finds only the newest thirty merchant tokens of a Resource."""

    async def merchant_token(self, key: VaultKey, resource: Resource) -> VaultEntry | Refusal:
        beside = [each for each in self._store.vault if each.resource_id == resource.id]
        if key not in beside[-ROOM:]:
            return self._policies.nothing_cached()
        return await super().merchant_token(key, resource)


DEFECTS = (
    defect(
        "life-of-the-first-merchant-token (VAULT-01): The gateway uses the lifetime from the sign-in for "
        "all refreshed merchant tokens, and ignores expires_in of a refresh.",
        **life_of_the_first(),
    ),
    defect(
        "expiry-that-only-moves-on (VAULT-01): A new sign-in never stores an earlier expiry of a merchant "
        "token.",
        entry_after_provisioning=later_expiry,
        redemption_answer=without_expires_at,
    ),
    defect(
        "four-refreshes-at-most (VAULT-01 ROBUST-04): After four refreshes, redemption answers 410, so the "
        "user has to authorize again.",
        **from_the_sign_in_on(a_few_times),
    ),
    defect(
        "fifth-refresh-with-the-one-before (VAULT-01 ROBUST-04): The gateway does not store the refresh "
        "token of the fourth refresh, so the fifth one sends an old refresh token.",
        **fifth_with_the_one_before(),
    ),
    defect(
        "first-refresh-token-where-none-came (VAULT-01 ROBUST-04): If a refresh brings no new refresh "
        "token, the next one uses that of the sign-in instead of the newest.",
        **first_one_where_none_came(),
    ),
    defect(
        "expired-token-a-day-after-the-410 (VAULT-03): One day after its expiry, the gateway returns a "
        "merchant token whose refresh was rejected.",
        step=expired_one_after_a_day,
    ),
    defect(
        "rejection-for-all-resources-of-the-user (REDEEM-01 ROBUST-04): If the merchant rejects a refresh, "
        "the user has to authorize again for all Resources of the Project.",
        **rejected_for_all(same_user),
    ),
    defect(
        "rejection-in-every-project (REDEEM-01 ROBUST-04): If the merchant rejects a refresh, the user has "
        "to authorize again in every Project with the same Resource indicator.",
        **rejected_for_all(same_login_and_indicator),
    ),
    defect(
        "thirty-merchant-tokens-a-resource (REDEEM-01): The vault keeps only the newest thirty merchant "
        "tokens of a Resource.",
        vault_factory=RoomForThirty,
    ),
)
