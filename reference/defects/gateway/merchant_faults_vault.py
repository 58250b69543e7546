"""Gateways whose vault handles failures of the merchant wrongly, or reveals data in the error."""

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


def is_server_error(answer: MerchantAnswer) -> bool:
    return (answer.status or 0) >= 500


def is_connection_failure(answer: MerchantAnswer) -> bool:
    return answer.trouble in {"connection", "tls"}


def with_the_lifetime(entry: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
    lifetime = (answer.document or {}).get("expires_in")
    return replace(entry, expires_at=now + lifetime) if isinstance(lifetime, int) and lifetime > 0 else entry


def refreshed_with_the_lifetime(old: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
    return with_the_lifetime(vault.refreshed_entry(old, answer, now), answer, now)


def provisioned_with_the_lifetime(
    old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
) -> VaultEntry | None:
    entry = vault.entry_after_provisioning(old, verdict, answer, now)
    return with_the_lifetime(entry, answer, now) if entry is not None and verdict == "accepted" else entry


class Retrying:
    """Repeats a request to a merchant many times without a pause while `again` is true for the answer."""

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
    """Repeats every request to a merchant that answers 5xx."""

    def __init__(self, *, merchants: Merchants, **parts: Any) -> None:
        retrying = Retrying(merchants, TRIES, is_server_error)
        super().__init__(merchants=cast("Merchants", retrying), **parts)


class ConnectsOverAndOver(Vault):
    """Repeats every request whose connection or TLS handshake fails."""

    def __init__(self, *, merchants: Merchants, **parts: Any) -> None:
        retrying = Retrying(merchants, CONNECTIONS, is_connection_failure)
        super().__init__(merchants=cast("Merchants", retrying), **parts)


class DropsTheRefreshToken(Vault):
    """Deletes the refresh token after a failed refresh."""

    async def _refresh(self, key: VaultKey, entry: VaultEntry, resource: Resource) -> Verdict:
        verdict = await super()._refresh(key, entry, resource)
        if verdict == "transient" and self._store.vault.get(key) is entry:
            self._store.vault[key] = replace(entry, refresh_token=None)
        return verdict


class CountsToThree(Vault):
    """Treats the third failed refresh in a row as a rejection."""

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


class BackingOff:
    """Does not send the same refresh token again for five minutes after a 5xx."""

    def __init__(self, merchants: Merchants) -> None:
        self._merchants = merchants
        self._until: dict[str, float] = {}

    async def ask(self, merchant: MerchantPlace, form: dict[str, str]) -> MerchantAnswer:
        token = form.get("refresh_token")
        if token is not None and time.monotonic() < self._until.get(token, 0):
            return MerchantAnswer(status=503)
        answer = await self._merchants.ask(merchant, form)
        if token is not None and is_server_error(answer):
            self._until[token] = time.monotonic() + REMEMBERED_S
        return answer


class RemembersTrouble(Vault):
    """Does not repeat a refresh for five minutes after a 5xx."""

    def __init__(self, *, merchants: Merchants, **parts: Any) -> None:
        super().__init__(merchants=cast("Merchants", BackingOff(merchants)), **parts)


class RejectingAfterTwoStatuses:
    """Returns a rejection for a refresh that failed in two different ways."""

    def __init__(self, merchants: Merchants) -> None:
        self._merchants = merchants
        self._statuses: dict[str, set[int | None]] = {}

    async def ask(self, merchant: MerchantPlace, form: dict[str, str]) -> MerchantAnswer:
        answer = await self._merchants.ask(merchant, form)
        token = form.get("refresh_token")
        if token is None or answer.status == 200:
            return answer
        seen = self._statuses.setdefault(token, set())
        seen.add(answer.status)
        return answer if len(seen) == 1 else MerchantAnswer(status=400, document={"error": "invalid_grant"})


class GivesUpOnTwoFailures(Vault):
    """Treats a refresh that failed in two different ways as rejected."""

    def __init__(self, *, merchants: Merchants, **parts: Any) -> None:
        super().__init__(merchants=cast("Merchants", RejectingAfterTwoStatuses(merchants)), **parts)


class ShowsTheEntry(Vault):
    """The error contains the refresh token of the entry in base64, as a debugging aid."""

    def _after_refresh(self, key: VaultKey, verdict: Verdict) -> VaultEntry | Refusal:
        outcome = super()._after_refresh(key, verdict)
        entry = self._store.vault.get(key)
        if verdict != "transient" or entry is None or isinstance(outcome, VaultEntry):
            return outcome
        state = base64.b64encode(f"refresh_token={entry.refresh_token}".encode()).decode()
        return replace(outcome, description=f"{outcome.description} (state {state})")


def refused_between(answer: MerchantAnswer) -> Verdict:
    """Treats a 502 or 504, which a load balancer sends, as a rejection by the merchant."""
    return "rejected" if answer.status in {502, 504} else vault.refresh_verdict(answer)


def ending_where_the_client_is_unknown() -> dict[str, Any]:
    """Treats a 401 for the gateway's client as one for the user."""
    last: list[int | None] = []

    def noted(answer: MerchantAnswer) -> Verdict:
        last[:] = [answer.status]
        return vault.provisioning_verdict(answer)

    return {"provisioning_verdict": noted, "continues_sign_in": lambda _: last != [401]}


def lost_where_forbidden(
    old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
) -> VaultEntry | None:
    """Treats a 403 of the merchant as a revoked grant."""
    if answer.status == 403:
        return replace(vault.entry_from(answer, now), needs_reauthentication=True)
    return vault.entry_after_provisioning(old, verdict, answer, now)


def relaying_the_error() -> dict[str, Any]:
    """Puts the merchant's answer into the description of the refusal."""
    last: list[MerchantAnswer] = []

    def noted(answer: MerchantAnswer) -> Verdict:
        last[:] = [answer]
        return vault.refresh_verdict(answer)

    def unavailable() -> Refusal:
        said = json.dumps(last[0].document) if last else ""
        return replace(redemption.merchant_unavailable(), description=f"the merchant said {said}")

    return {"refresh_verdict": noted, "merchant_unavailable": unavailable}


def error_in_a_header() -> dict[str, Any]:
    """Puts the merchant's error into a header of the redirect with the code."""
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
        "twenty-tries (VAULT-06 ROBUST-04): If the merchant answers 5xx, the gateway retries twenty times "
        "without a pause.",
        vault_factory=TriesTwenty,
    ),
    defect(
        "connects-over-and-over (VAULT-06 ROBUST-04): If the connection to the merchant fails, the gateway "
        "retries three hundred times without a pause.",
        vault_factory=ConnectsOverAndOver,
    ),
    defect(
        "two-kinds-of-trouble-for-a-rejection (VAULT-06): The gateway treats a refresh as rejected after "
        "failures of two kinds, such as a 503 and a timeout.",
        vault_factory=GivesUpOnTwoFailures,
    ),
    defect(
        "refresh-token-dropped-in-trouble (VAULT-06 ROBUST-04): The gateway deletes the refresh token after "
        "a failed refresh.",
        vault_factory=DropsTheRefreshToken,
    ),
    defect(
        "trouble-remembered (VAULT-06 ROBUST-04): The gateway does not repeat a refresh for five minutes "
        "after the merchant answered 5xx.",
        vault_factory=RemembersTrouble,
    ),
    defect(
        "error-shows-the-vault (SECRET-06 SECRET-01): If the merchant fails at a refresh, the error contains "
        "the refresh token in base64.",
        vault_factory=ShowsTheEntry,
    ),
    defect(
        "any-lifetime-believed (ROBUST-02 VAULT-06 ROBUST-04): The gateway adds any positive expires_in of "
        "the merchant to the time, even if the result is no valid date.",
        refreshed_entry=refreshed_with_the_lifetime,
        entry_after_provisioning=provisioned_with_the_lifetime,
    ),
    defect(
        "merchant-error-relayed (SECRET-06 SECRET-01 SECRET-02): The error that a backend gets quotes the "
        "merchant's answer.",
        **relaying_the_error(),
    ),
    defect(
        "merchant-error-told-to-the-browser (SECRET-06 SECRET-01 SECRET-02): A header of the redirect to the "
        "agent quotes the error that the merchant sent instead of a token.",
        **error_in_a_header(),
    ),
    defect(
        "third-failure-taken-for-a-rejection (VAULT-06 ROBUST-04): The gateway treats the third failed "
        "refresh in a row as a rejection.",
        vault_factory=CountsToThree,
    ),
    defect(
        "gateway-error-taken-for-a-rejection (VAULT-06): The gateway treats a 502 or 504 to a refresh as a "
        "rejection.",
        refresh_verdict=refused_between,
    ),
    defect(
        "unknown-client-ends-the-sign-in (AUTHZ-10): The sign-in fails if the merchant answers 401 to "
        "provisioning.",
        **ending_where_the_client_is_unknown(),
    ),
    defect(
        "forbidden-provisioning-is-a-lost-grant (REDEEM-10): If the merchant answers 403 to provisioning, "
        "redemption answers 410.",
        entry_after_provisioning=lost_where_forbidden,
    ),
)
