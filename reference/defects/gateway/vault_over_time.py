"""Gateways whose vault is right at first, and wrong after some refreshes, some days or some users."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.defects.gateway.vault_expiry import undated
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy import vault
from gateproof.reference.gateway.policy.vault import MerchantAnswer, Step, Verdict
from gateproof.reference.gateway.records import Resource, VaultEntry, VaultKey
from gateproof.reference.gateway.vault import Vault
from gateproof.reference.outcomes import Refusal

DAY_S = 86_400
REFRESHES, ROOM = 4, 30


class Origins:
    """The merchant token of the sign-in, and how many refreshes ago that was."""

    def __init__(self) -> None:
        self._of: dict[str, tuple[VaultEntry, int]] = {}

    def of(self, entry: VaultEntry) -> tuple[VaultEntry, int]:
        return self._of.get(entry.access_token, (entry, 0))

    def refreshed(self, old: VaultEntry, new: VaultEntry) -> VaultEntry:
        first, count = self.of(old)
        self._of[new.access_token] = first, count + 1
        return new


def from_the_sign_in_on(step: Callable[[VaultEntry, int, VaultEntry, float], Step]) -> dict[str, Any]:
    """What a redemption does depends on what the sign-in brought, and on the refreshes since."""
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
    """The fourth refresh token that comes is not kept: the column has room for a history of three."""
    origins = Origins()

    def refreshed(old: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
        new = origins.refreshed(old, vault.refreshed_entry(old, answer, now))
        lost = origins.of(new)[1] == REFRESHES
        return replace(new, refresh_token=old.refresh_token) if lost else new

    return {"refreshed_entry": refreshed}


def first_one_where_none_came() -> dict[str, Any]:
    """Where the merchant sends no refresh token, that of the sign-in is taken to be the one to keep."""
    origins = Origins()

    def refreshed(old: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
        first, _ = origins.of(old)
        new = origins.refreshed(old, vault.refreshed_entry(old, answer, now))
        kept = answer.text("refresh_token") or first.refresh_token
        return replace(new, refresh_token=kept)

    return {"refreshed_entry": refreshed}


def life_of_the_first() -> dict[str, Any]:
    """How long a merchant token lives is noted at the sign-in; no answer shows it."""
    origins = Origins()

    def refreshed(old: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
        first, _ = origins.of(old)
        new = origins.refreshed(old, vault.refreshed_entry(old, answer, now))
        if first.expires_at is None:
            return new
        return replace(new, expires_at=now + first.expires_at - first.issued_at)

    return {"refreshed_entry": refreshed, "redemption_answer": undated}


def later_expiry(
    old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
) -> VaultEntry | None:
    """The row has an expiry already, and it is only ever moved on."""
    new = vault.entry_after_provisioning(old, verdict, answer, now)
    if new is None or old is None or old.needs_reauthentication or verdict != "accepted":
        return new
    dated = [each.expires_at for each in (old, new) if each.expires_at is not None]
    return replace(new, expires_at=max(dated, default=None))


def expired_one_after_a_day(entry: VaultEntry, now: float) -> Step:
    """The mark of a rejection is looked at for a day."""
    marked = entry.needs_reauthentication and entry.expires_at is not None
    return "return" if marked and now > (entry.expires_at or 0) + DAY_S else vault.step(entry, now)


def rejected_for_all(alike: Callable[[VaultKey, VaultKey, Gateway], bool]) -> dict[str, Any]:
    """A rejection marks all merchant tokens of the user that are alike."""
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
    """The vault of a Resource holds the newest thirty merchant tokens."""

    async def merchant_token(self, key: VaultKey, resource: Resource) -> VaultEntry | Refusal:
        beside = [each for each in self._store.vault if each.resource_id == resource.id]
        if key not in beside[-ROOM:]:
            return self._policies.nothing_cached()
        return await super().merchant_token(key, resource)


DEFECTS = (
    defect(
        "life-of-the-first-merchant-token (VAULT-01): How long a merchant token lives is what was said at "
        "the sign-in, whatever the merchant says at a refresh.",
        **life_of_the_first(),
    ),
    defect(
        "expiry-that-only-moves-on (VAULT-01): A new sign-in does not bring the expiry of a "
        "merchant token forward.",
        entry_after_provisioning=later_expiry,
        redemption_answer=undated,
    ),
    defect(
        "four-refreshes-at-most (VAULT-01 ROBUST-04): After four refreshes, the user has to authorize again.",
        **from_the_sign_in_on(a_few_times),
    ),
    defect(
        "fifth-refresh-with-the-one-before (VAULT-01 ROBUST-04): The fifth refresh sends the refresh token "
        "of the fourth, which the merchant has replaced.",
        **fifth_with_the_one_before(),
    ),
    defect(
        "first-refresh-token-where-none-came (VAULT-01 ROBUST-04): Where a refresh brings no new refresh "
        "token, the one of the sign-in is used next, and not the newest.",
        **first_one_where_none_came(),
    ),
    defect(
        "expired-token-a-day-after-the-410 (VAULT-03): A day after its expiry, a merchant token whose "
        "refresh was rejected is handed out.",
        step=expired_one_after_a_day,
    ),
    defect(
        "rejection-for-all-resources-of-the-user (REDEEM-01 ROBUST-04): When the merchant rejects a refresh, "
        "the user has to authorize again at all Resources of the Project.",
        **rejected_for_all(same_user),
    ),
    defect(
        "rejection-in-every-project (REDEEM-01 ROBUST-04): When the merchant rejects a refresh, the user has "
        "to authorize again in every Project that has the same indicator.",
        **rejected_for_all(same_login_and_indicator),
    ),
    defect(
        "thirty-merchant-tokens-a-resource (REDEEM-01): The vault has room for thirty merchant tokens of a "
        "Resource.",
        vault_at_work=RoomForThirty,
    ),
)
