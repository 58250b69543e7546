"""Gateways whose vault refreshes twice, or mixes up merchant tokens, when redemptions are concurrent."""

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
    """Checks for a running refresh, and starts one only after one await."""

    async def _refresh_together(self, key: VaultKey, entry: VaultEntry, resource: Resource) -> Verdict:
        if key in self._flights:
            return await asyncio.shield(self._flights[key])
        await asyncio.sleep(0)
        flight = asyncio.create_task(self._refresh(key, entry, resource))
        self._flights[key] = flight
        flight.add_done_callback(lambda _: self._flights.pop(key, None))
        return await asyncio.shield(flight)


class LocksAndDoesNotLookAgain(Vault):
    """Refreshes under a lock, but does not read the entry again after it got the lock."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self._locks: dict[VaultKey, asyncio.Lock] = {}

    async def _refresh_together(self, key: VaultKey, entry: VaultEntry, resource: Resource) -> Verdict:
        async with self._locks.setdefault(key, asyncio.Lock()):
            return await self._refresh(key, entry, resource)


class LocksForTwoSeconds(Vault):
    """Locks each refresh with a lease that can end before the refresh does."""

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
    """During a refresh, other redemptions get the expired entry of the vault."""

    async def merchant_token(self, key: VaultKey, resource: Resource) -> VaultEntry | Refusal:
        under_way = self._policies.flight_key(key) in self._flights
        entry = self._store.vault.get(key)
        return entry if under_way and entry is not None else await super().merchant_token(key, resource)


class StoresForTheLast(Vault):
    """Also stores the result of a refresh under the key of the refresh that was started last."""

    _asked: VaultKey | None = None

    async def _refresh(self, key: VaultKey, entry: VaultEntry, resource: Resource) -> Verdict:
        self._asked = key
        verdict = await super()._refresh(key, entry, resource)
        if self._asked != key and self._asked in self._store.vault:
            self._store.vault[self._asked] = self._store.vault[key]
        return verdict


class LastInAGlobal(Vault):
    """Keeps the key of the current redemption in one attribute for all requests, across one await."""

    _current: tuple[VaultKey, Resource] | None = None

    async def merchant_token(self, key: VaultKey, resource: Resource) -> VaultEntry | Refusal:
        self._current = key, resource
        await asyncio.sleep(0)
        return await super().merchant_token(*self._current)


class OneDocument(Vault):
    """Reads all merchant tokens of a user as one document, and writes it back after a refresh."""

    async def _refresh(self, key: VaultKey, entry: VaultEntry, resource: Resource) -> Verdict:
        vault = self._store.vault
        document = {
            each: kept
            for each, kept in vault.items()
            if each.sub == key.sub and each.login_id == key.login_id
        }
        verdict = await super()._refresh(key, entry, resource)
        vault.update({each: kept for each, kept in document.items() if each != key and each in vault})
        return verdict


def shared(by: Callable[[VaultKey], Hashable]) -> type[Vault]:
    """A redemption during a refresh gets the result of that refresh if `by` gives the same key."""

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
    """A flight key that differs between two processes, which handle the requests in turn."""
    requests = count()
    return lambda key: (key, next(requests) % 2)


LEASE_S = 2.0

DEFECTS = (
    defect(
        "merchant-tokens-in-one-document (VAULT-07): The merchant tokens of a user are one document, which "
        "the gateway reads before a refresh and writes back after it, so one of two refreshes is lost.",
        vault_factory=OneDocument,
    ),
    defect(
        "no-single-flight (VAULT-07 ROBUST-02): Each redemption near expiry starts its own refresh, even "
        "while another refresh is running.",
        flight_key=lambda _: object(),
    ),
    defect(
        "single-flight-a-moment-late (VAULT-07 ROBUST-02): The gateway checks whether a refresh is running "
        "and starts one in two steps, with one await between them.",
        vault_factory=LooksThenStarts,
    ),
    defect(
        "single-flight-in-each-process (VAULT-07 ROBUST-02): Two processes share the vault, and each one "
        "knows only its own running refreshes.",
        flight_key=in_one_of_two_processes(),
    ),
    defect(
        "lock-without-a-second-look (VAULT-07 ROBUST-02): Concurrent redemptions refresh one after the "
        "other, each with the refresh token that it read before it got the lock.",
        vault_factory=LocksAndDoesNotLookAgain,
    ),
    defect(
        "refresh-locked-for-two-seconds (VAULT-07 VAULT-06 ROBUST-02): A redemption that has waited two "
        "seconds for a running refresh starts a second one.",
        vault_factory=LocksForTwoSeconds,
    ),
    defect(
        "expired-token-during-a-refresh (VAULT-01): A redemption during another redemption's refresh gets "
        "the expired merchant token.",
        vault_factory=ServesWhatIsThere,
    ),
    defect(
        "refresh-shared-by-resource (REDEEM-12): Concurrent redemptions for one Resource share a refresh, "
        "even if they are for different users.",
        vault_factory=shared(lambda key: key.resource_id),
    ),
    defect(
        "refresh-shared-by-user (REDEEM-12): Concurrent redemptions for one login share a refresh, even if "
        "they are for different Resources.",
        vault_factory=shared(lambda key: key.login_id),
    ),
    defect(
        "refresh-shared-by-project (REDEEM-12): Concurrent redemptions in one Project share a refresh, even "
        "if they are for different users or Resources.",
        vault_factory=shared(lambda key: key.project_id),
    ),
    defect(
        "refresh-stored-for-the-last (REDEEM-12 VAULT-06 VAULT-07): The gateway also stores a refreshed "
        "merchant token for the user whose refresh was started last.",
        vault_factory=StoresForTheLast,
    ),
    defect(
        "redemption-in-a-global (REDEEM-12): The gateway keeps the current redemption in a global variable "
        "across one await, so concurrent redemptions mix up their merchant tokens.",
        vault_factory=LastInAGlobal,
    ),
)
