"""Gateways whose vault mixes up, or does twice, what happens to merchant tokens at the same moment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from itertools import count
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy.vault import Verdict
from gateproof.reference.gateway.records import Resource, VaultEntry, VaultKey
from gateproof.reference.gateway.vault import Vault
from gateproof.reference.outcomes import Refusal


class LooksThenStarts(Vault):
    """Whether a refresh is under way is looked at before one is started, with one await in between."""

    async def _refresh_together(self, key: VaultKey, entry: VaultEntry, resource: Resource) -> Verdict:
        if key in self._flights:
            return await asyncio.shield(self._flights[key])
        await asyncio.sleep(0)
        flight = asyncio.create_task(self._refresh(key, entry, resource))
        self._flights[key] = flight
        flight.add_done_callback(lambda _: self._flights.pop(key, None))
        return await asyncio.shield(flight)


class LocksAndDoesNotLookAgain(Vault):
    """One refresh at a time, and whoever waited for the lock refreshes with what was read before."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self._locks: dict[VaultKey, asyncio.Lock] = {}

    async def _refresh_together(self, key: VaultKey, entry: VaultEntry, resource: Resource) -> Verdict:
        async with self._locks.setdefault(key, asyncio.Lock()):
            return await self._refresh(key, entry, resource)


class LocksForTwoSeconds(Vault):
    """A lock of its own for each refresh, which is over after a while whether or not the refresh is."""

    async def _refresh_together(self, key: VaultKey, entry: VaultEntry, resource: Resource) -> Verdict:
        while (flight := self._flights.get(key)) is not None:
            done, _ = await asyncio.wait([flight], timeout=LEASE_S)
            if done:
                return flight.result()
            if self._flights.get(key) is flight:
                break
        flight = asyncio.create_task(self._refresh(key, entry, resource))
        self._flights[key] = flight
        flight.add_done_callback(lambda _: self._flights.pop(key, None))
        return await asyncio.shield(flight)


class ServesWhatIsThere(Vault):
    """One refreshes; whoever comes meanwhile gets what is in the vault, expired as it is."""

    async def merchant_token(self, key: VaultKey, resource: Resource) -> VaultEntry | Refusal:
        under_way = self._policies.flight_key(key) in self._flights
        entry = self._store.vault.get(key)
        return entry if under_way and entry is not None else await super().merchant_token(key, resource)


class StoresForTheLast(Vault):
    """What a refresh brought is stored for whoever asked for one last."""

    _asked: VaultKey | None = None

    async def _refresh(self, key: VaultKey, entry: VaultEntry, resource: Resource) -> Verdict:
        self._asked = key
        verdict = await super()._refresh(key, entry, resource)
        if self._asked != key and self._asked in self._store.vault:
            self._store.vault[self._asked] = self._store.vault[key]
        return verdict


class LastInAGlobal(Vault):
    """Whose merchant token is being redeemed stands in one place for all, over one await."""

    _current: tuple[VaultKey, Resource] | None = None

    async def merchant_token(self, key: VaultKey, resource: Resource) -> VaultEntry | Refusal:
        self._current = key, resource
        await asyncio.sleep(0)
        return await super().merchant_token(*self._current)


def shared(by: Callable[[VaultKey], Hashable]) -> type[Vault]:
    """Whoever comes while a refresh is under way gets what that one brings, by a key that is too short."""

    class Shared(Vault):
        def __init__(self, **parts: Any) -> None:
            super().__init__(**parts)
            self._under_way: dict[Hashable, VaultKey] = {}

        async def merchant_token(self, key: VaultKey, resource: Resource) -> VaultEntry | Refusal:
            entry = self._store.vault.get(key)
            if entry is None or self._policies.step(entry, self._clock.now()) != "refresh":
                return await super().merchant_token(key, resource)
            first = self._under_way.setdefault(by(key), key)
            try:
                outcome = await super().merchant_token(first, resource)
            finally:
                self._under_way.pop(by(key), None)
            return outcome

    return Shared


def in_one_of_two_processes() -> Callable[[VaultKey], Hashable]:
    """Each process knows of its own refreshes alone."""
    requests = count()
    return lambda key: (key, next(requests) % 2)


LEASE_S = 2.0

DEFECTS = (
    defect(
        "no-single-flight (VAULT-07 ROBUST-02): Every redemption near expiry refreshes, whoever else is "
        "doing so.",
        flight_key=lambda _: object(),
    ),
    defect(
        "single-flight-a-moment-late (VAULT-07 ROBUST-02): Whether a refresh is under way is looked at "
        "before one is started, with one await in between.",
        vault_at_work=LooksThenStarts,
    ),
    defect(
        "single-flight-in-each-process (VAULT-07 ROBUST-02): Two processes share the vault, and each knows "
        "of its own refreshes alone.",
        flight_key=in_one_of_two_processes(),
    ),
    defect(
        "lock-without-a-second-look (VAULT-07 ROBUST-02): Redemptions refresh one after the other, each "
        "with the refresh token that it read before the lock.",
        vault_at_work=LocksAndDoesNotLookAgain,
    ),
    defect(
        "refresh-locked-for-two-seconds (VAULT-07 VAULT-06 ROBUST-02): Whoever has waited for somebody "
        "else's refresh for two seconds begins one more.",
        vault_at_work=LocksForTwoSeconds,
    ),
    defect(
        "expired-token-during-a-refresh (VAULT-01): Whoever redeems while somebody else's redemption "
        "refreshes is given the expired merchant token.",
        vault_at_work=ServesWhatIsThere,
    ),
    defect(
        "refresh-shared-by-resource (REDEEM-12): Redemptions at one Resource share a refresh, whichever "
        "user they are for.",
        vault_at_work=shared(lambda key: key.resource_id),
    ),
    defect(
        "refresh-shared-by-user (REDEEM-12): Redemptions of one user share a refresh, whichever Resource "
        "they are for.",
        vault_at_work=shared(lambda key: key.login_id),
    ),
    defect(
        "refresh-shared-by-project (REDEEM-12): Redemptions in one Project share a refresh, whatever they "
        "are for.",
        vault_at_work=shared(lambda key: key.project_id),
    ),
    defect(
        "refresh-stored-for-the-last (REDEEM-12 VAULT-06 VAULT-07): What a refresh brings is stored for "
        "whoever asked for one last.",
        vault_at_work=StoresForTheLast,
    ),
    defect(
        "redemption-in-a-global (REDEEM-12): Whose merchant token is being redeemed stands in a global over "
        "one await.",
        vault_at_work=LastInAGlobal,
    ),
)
