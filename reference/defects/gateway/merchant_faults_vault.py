"""Gateways whose vault loses its head, or its discretion, when the merchant is in trouble."""

from __future__ import annotations

import base64
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.merchants import Merchants
from gateproof.reference.gateway.policy import redemption, vault
from gateproof.reference.gateway.policy.vault import MerchantAnswer, Verdict
from gateproof.reference.gateway.records import MerchantPlace, Resource, VaultEntry, VaultKey
from gateproof.reference.gateway.vault import Vault
from gateproof.reference.outcomes import Refusal

TRIES, CONNECTIONS = 20, 300
FAILURES = 3
REMEMBERED_S = 300.0


def is_unwell(answer: MerchantAnswer) -> bool:
    return (answer.status or 0) >= 500


def never_came_about(answer: MerchantAnswer) -> bool:
    return answer.trouble in {"connection", "tls"}


def for_as_long_as_told(entry: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
    lifetime = (answer.document or {}).get("expires_in")
    return replace(entry, expires_at=now + lifetime) if isinstance(lifetime, int) and lifetime > 0 else entry


def refreshed_for_as_long_as_told(old: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
    return for_as_long_as_told(vault.refreshed_entry(old, answer, now), answer, now)


def kept_for_as_long_as_told(
    old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
) -> VaultEntry | None:
    entry = vault.entry_after_provisioning(old, verdict, answer, now)
    return for_as_long_as_told(entry, answer, now) if entry is not None and verdict == "accepted" else entry


class Insisting:
    """Asks a merchant again, at once and many times, for as long as this is what comes of it."""

    def __init__(self, merchants: Merchants, tries: int, again: Callable[[MerchantAnswer], bool]) -> None:
        self._merchants = merchants
        self._tries = tries
        self._again = again

    async def ask(self, merchant: MerchantPlace, form: dict[str, str]) -> MerchantAnswer:
        answer = await self._merchants.ask(merchant, form)
        for _ in range(self._tries):
            if not self._again(answer):
                break
            answer = await self._merchants.ask(merchant, form)
        return answer


class TriesTwenty(Vault):
    """Every request to a merchant is made over and over while it is in trouble."""

    def __init__(self, *, merchants: Merchants, **parts: Any) -> None:
        insisting = Insisting(merchants, TRIES, is_unwell)
        super().__init__(merchants=cast("Merchants", insisting), **parts)


class ConnectsOverAndOver(Vault):
    """A connection that fails, or is not to be trusted, is tried again as if nothing had been."""

    def __init__(self, *, merchants: Merchants, **parts: Any) -> None:
        insisting = Insisting(merchants, CONNECTIONS, never_came_about)
        super().__init__(merchants=cast("Merchants", insisting), **parts)


class DropsTheRefreshToken(Vault):
    """A refresh that failed leaves nothing to refresh with."""

    async def _refresh(self, key: VaultKey, entry: VaultEntry, resource: Resource) -> Verdict:
        verdict = await super()._refresh(key, entry, resource)
        if verdict == "transient" and self._store.vault.get(key) is entry:
            self._store.vault[key] = replace(entry, refresh_token=None)
        return verdict


class CountsToThree(Vault):
    """What has failed three times in a row is given up for good."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self._failures: Counter[VaultKey] = Counter()

    async def _refresh(self, key: VaultKey, entry: VaultEntry, resource: Resource) -> Verdict:
        verdict = await super()._refresh(key, entry, resource)
        if verdict != "transient":
            self._failures.pop(key, None)
            return verdict
        self._failures[key] += 1
        if self._failures[key] < FAILURES or self._store.vault.get(key) is not entry:
            return verdict
        self._store.vault[key] = self._policies.rejected_entry(entry)
        return "rejected"


class Sulking:
    """Does not ask a merchant that said it was at fault again about the same token, for minutes."""

    def __init__(self, merchants: Merchants) -> None:
        self._merchants = merchants
        self._until: dict[str, float] = {}

    async def ask(self, merchant: MerchantPlace, form: dict[str, str]) -> MerchantAnswer:
        token = form.get("refresh_token")
        if token is not None and time.monotonic() < self._until.get(token, 0):
            return MerchantAnswer(status=503)
        answer = await self._merchants.ask(merchant, form)
        if token is not None and is_unwell(answer):
            self._until[token] = time.monotonic() + REMEMBERED_S
        return answer


class RemembersTrouble(Vault):
    """A refresh that the merchant failed is not tried again for minutes."""

    def __init__(self, *, merchants: Merchants, **parts: Any) -> None:
        super().__init__(merchants=cast("Merchants", Sulking(merchants)), **parts)


class Muddled:
    """Tells a caller whose refresh failed in two ways that the merchant has refused it."""

    def __init__(self, merchants: Merchants) -> None:
        self._merchants = merchants
        self._ways: dict[str, set[int | None]] = {}

    async def ask(self, merchant: MerchantPlace, form: dict[str, str]) -> MerchantAnswer:
        answer = await self._merchants.ask(merchant, form)
        token = form.get("refresh_token")
        if token is None or answer.status == 200:
            return answer
        ways = self._ways.setdefault(token, set())
        ways.add(answer.status)
        return answer if len(ways) == 1 else MerchantAnswer(status=400, document={"error": "invalid_grant"})


class GivesUpOnTwoFailures(Vault):
    """A refresh that failed in one way, and then in another, is given up for good."""

    def __init__(self, *, merchants: Merchants, **parts: Any) -> None:
        super().__init__(merchants=cast("Merchants", Muddled(merchants)), **parts)


class ShowsTheEntry(Vault):
    """An error quotes what the vault had at hand, wrapped up for whoever debugs it."""

    def _after_refresh(self, key: VaultKey, verdict: Verdict) -> VaultEntry | Refusal:
        outcome = super()._after_refresh(key, verdict)
        entry = self._store.vault.get(key)
        if verdict != "transient" or entry is None or isinstance(outcome, VaultEntry):
            return outcome
        state = base64.b64encode(f"refresh_token={entry.refresh_token}".encode()).decode()
        return replace(outcome, description=f"{outcome.description} (state {state})")


def refused_between(answer: MerchantAnswer) -> Verdict:
    """What a load balancer says in the merchant's place is the merchant's last word."""
    return "rejected" if answer.status in {502, 504} else vault.refresh_verdict(answer)


def ending_where_the_client_is_unknown() -> dict[str, Any]:
    """A 401 of the merchant's is taken for one of the user's."""
    last: list[int | None] = []

    def noted(answer: MerchantAnswer) -> Verdict:
        last[:] = [answer.status]
        return vault.provisioning_verdict(answer)

    return {"provisioning_verdict": noted, "sign_in_goes_on": lambda _: last != [401]}


def lost_where_forbidden(
    old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
) -> VaultEntry | None:
    """A merchant that forbids it is taken for one that took a grant back."""
    if answer.status == 403:
        return replace(vault.entry_from(answer, now), needs_reauthentication=True)
    return vault.entry_after_provisioning(old, verdict, answer, now)


def relaying_the_error() -> dict[str, Any]:
    """What the merchant said goes into the description of the refusal."""
    last: list[MerchantAnswer] = []

    def noted(answer: MerchantAnswer) -> Verdict:
        last[:] = [answer]
        return vault.refresh_verdict(answer)

    def unavailable() -> Refusal:
        said = json.dumps(last[0].document) if last else ""
        return replace(redemption.merchant_unavailable(), description=f"the merchant said {said}")

    return {"refresh_verdict": noted, "merchant_unavailable": unavailable}


def telling_the_browser() -> dict[str, Any]:
    """What the merchant said in place of a token goes with the code, in a header."""
    last: list[MerchantAnswer] = []

    def noted(answer: MerchantAnswer) -> Verdict:
        last[:] = [answer]
        return vault.provisioning_verdict(answer)

    def headers(_code: str) -> Mapping[str, str]:
        failed = [answer.document for answer in last if answer.status != 200 and answer.document]
        last.clear()
        return {"x-provisioning": json.dumps(failed[0])} if failed else {}

    return {"provisioning_verdict": noted, "code_headers": headers}


DEFECTS = (
    defect(
        "twenty-tries (VAULT-06 ROBUST-04): A merchant that answers 5xx is asked again at once, twenty "
        "times.",
        vault_at_work=TriesTwenty,
    ),
    defect(
        "connects-over-and-over (VAULT-06 ROBUST-04): A merchant to whom no connection comes about is tried "
        "again at once, three hundred times.",
        vault_at_work=ConnectsOverAndOver,
    ),
    defect(
        "two-kinds-of-trouble-for-a-rejection (VAULT-06): A refresh that failed in one way, and then in "
        "another, counts as rejected.",
        vault_at_work=GivesUpOnTwoFailures,
    ),
    defect(
        "refresh-token-dropped-in-trouble (VAULT-06 ROBUST-04): A refresh that failed takes the refresh "
        "token with it.",
        vault_at_work=DropsTheRefreshToken,
    ),
    defect(
        "trouble-remembered (VAULT-06 ROBUST-04): A refresh that the merchant answered with 5xx is not "
        "tried again for five minutes.",
        vault_at_work=RemembersTrouble,
    ),
    defect(
        "error-shows-the-vault (SECRET-06 SECRET-01): While the merchant is in trouble, the error holds the "
        "refresh token in base64.",
        vault_at_work=ShowsTheEntry,
    ),
    defect(
        "any-lifetime-believed (ROBUST-02 VAULT-06 ROBUST-04): Whatever the merchant gives as expires_in is "
        "added to the time, and no calendar has the date.",
        refreshed_entry=refreshed_for_as_long_as_told,
        entry_after_provisioning=kept_for_as_long_as_told,
    ),
    defect(
        "merchant-error-relayed (SECRET-06 SECRET-01 SECRET-02): The error that a backend gets quotes what "
        "the merchant said.",
        **relaying_the_error(),
    ),
    defect(
        "merchant-error-told-to-the-browser (SECRET-06 SECRET-01 SECRET-02): What the merchant said in "
        "place of a token is in a header of the redirect to the agent.",
        **telling_the_browser(),
    ),
    defect(
        "third-failure-taken-for-a-rejection (VAULT-06 ROBUST-04): A refresh that has failed three times in "
        "a row counts as rejected.",
        vault_at_work=CountsToThree,
    ),
    defect(
        "gateway-error-taken-for-a-rejection (VAULT-06): A refresh that is answered with 502 or 504 counts "
        "as rejected.",
        refresh_verdict=refused_between,
    ),
    defect(
        "unknown-client-ends-the-sign-in (AUTHZ-10): A merchant that answers 401 to provisioning ends the "
        "user's sign-in.",
        **ending_where_the_client_is_unknown(),
    ),
    defect(
        "forbidden-provisioning-is-a-lost-grant (REDEEM-10): A merchant that answers 403 to provisioning "
        "makes redemption answer 410.",
        entry_after_provisioning=lost_where_forbidden,
    ),
)
