"""The vault: provisioning at approval, and one refresh at a time for each merchant token."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable

from gateproof.reference.gateway.clock import Clock
from gateproof.reference.gateway.events import Event, What
from gateproof.reference.gateway.keys import SigningKey, signed
from gateproof.reference.gateway.merchants import Merchants
from gateproof.reference.gateway.policies import Policies
from gateproof.reference.gateway.policy.vault import MerchantAnswer, Verdict
from gateproof.reference.gateway.records import Agent, Grant, Resource, VaultEntry, VaultKey
from gateproof.reference.gateway.store import Store
from gateproof.reference.ids import Ids
from gateproof.reference.outcomes import Refusal

JWT_BEARER_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
JWT_BEARER_CLIENT = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


class Vault:
    """Merchant tokens, which are fetched at sign-in and refreshed at redemption."""

    def __init__(
        self, *, store: Store, policies: Policies, clock: Clock, ids: Ids, merchants: Merchants
    ) -> None:
        self._store = store
        self._policies = policies
        self._clock = clock
        self._ids = ids
        self._merchants = merchants
        self._flights: dict[Hashable, asyncio.Task[Verdict]] = {}
        self._delayed: set[asyncio.Task[Verdict]] = set()

    async def provision(self, grant: Grant, agent: Agent, resource: Resource) -> Verdict:
        """Requests a merchant token for this user and agent; never raises."""
        delay_s = self._policies.provisioning_delay_s
        if delay_s is None:
            return await self._provision(grant, agent, resource)
        task = asyncio.create_task(self._provision_after(delay_s, grant, agent, resource))
        self._delayed.add(task)
        task.add_done_callback(self._delayed.discard)
        return "transient"

    async def _provision_after(
        self, delay_s: float, grant: Grant, agent: Agent, resource: Resource
    ) -> Verdict:
        await asyncio.sleep(delay_s)
        return await self._provision(grant, agent, resource)

    async def _provision(self, grant: Grant, agent: Agent, resource: Resource) -> Verdict:
        now = self._clock.now()
        assertion = self._policies.user_assertion(grant, agent, resource, self._ids.identifier("jti_"), now)
        wanted = [scope for scope in grant.scopes if scope in resource.scopes]
        form = {
            "grant_type": JWT_BEARER_GRANT,
            "assertion": signed(self._assertion_key(resource), assertion, "JWT"),
            "scope": " ".join(wanted),
            **self._client_authentication(resource),
        }
        key = self._policies.vault_key(grant, resource)
        self._note("provisioning started", key, agent.id)
        answer = await self._merchants.ask(resource.merchant, form)
        verdict = self._policies.provisioning_verdict(answer)
        outcome: What = "provisioning succeeded" if verdict == "accepted" else "provisioning failed"
        self._note(outcome, key, agent.id, _said(verdict, answer))
        old = self._store.vault.get(key)
        entry = self._policies.entry_after_provisioning(old, verdict, answer, now)
        if entry is None:
            self._store.vault.pop(key, None)
        elif resource.id in self._store.resources:
            self._store.vault[key] = entry
        return verdict

    async def merchant_token(self, key: VaultKey, resource: Resource) -> VaultEntry | Refusal:
        """The entry for an answer, refreshed first if it is near expiry."""
        entry = self._store.vault.get(key)
        if entry is None:
            return self._policies.nothing_cached()
        step = self._policies.step(entry, self._clock.now())
        if step == "return":
            return entry
        if step == "reauthenticate":
            return self._policies.reauthentication_required()
        verdict = await self._refresh_together(key, entry, resource)
        return self._after_refresh(key, verdict)

    def _after_refresh(self, key: VaultKey, verdict: Verdict) -> VaultEntry | Refusal:
        """Uses the current entry, because a sign-in may have replaced it."""
        entry = self._store.vault.get(key)
        if entry is None:
            return self._policies.nothing_cached()
        if entry.needs_reauthentication:
            return self._policies.reauthentication_required()
        if verdict == "transient" and not self._policies.usable_after_transient(entry, self._clock.now()):
            return self._policies.merchant_unavailable()
        return entry

    async def _refresh_together(self, key: VaultKey, entry: VaultEntry, resource: Resource) -> Verdict:
        """Waits for a running refresh instead of starting a second one.

        The merchant may have rotated the refresh token, and reuse would revoke the user's whole grant. The
        shield keeps the refresh running if a caller disconnects.
        """
        together = self._policies.flight_key(key)
        flight = self._flights.get(together)
        if flight is None:
            flight = asyncio.create_task(self._refresh(key, entry, resource))
            self._flights[together] = flight
            flight.add_done_callback(lambda _: self._flights.pop(together, None))
        return await asyncio.shield(flight)

    async def _refresh(self, key: VaultKey, entry: VaultEntry, resource: Resource) -> Verdict:
        now = self._clock.now()
        form = {
            "grant_type": "refresh_token",
            "refresh_token": entry.refresh_token or "",
            **self._client_authentication(resource),
        }
        answer = await self._merchants.ask(resource.merchant, form)
        verdict = self._policies.refresh_verdict(answer)
        outcome: What = "refresh succeeded" if verdict == "accepted" else "refresh failed"
        self._note(outcome, key, None, _said(verdict, answer))
        # Ignore the answer if a sign-in has replaced the entry.
        if self._store.vault.get(key) is entry and verdict != "transient":
            self._store.vault[key] = (
                self._policies.refreshed_entry(entry, answer, now)
                if verdict == "accepted"
                else self._policies.rejected_entry(entry)
            )
        return verdict

    def _note(self, what: What, key: VaultKey, agent_id: str | None, detail: str = "") -> None:
        event = Event(
            at=self._clock.now(),
            what=what,
            project_id=key.project_id,
            resource_id=key.resource_id,
            login_id=key.login_id,
            agent_id=agent_id,
            detail=detail,
        )
        self._store.events.note(event)

    def _assertion_key(self, resource: Resource) -> SigningKey:
        return self._policies.assertion_key(self._store.core_keys, resource.key)

    def _client_authentication(self, resource: Resource) -> dict[str, str]:
        claims = self._policies.client_assertion(resource, self._ids.identifier("jti_"), self._clock.now())
        return {
            "client_id": resource.merchant.client_id,
            "client_assertion_type": JWT_BEARER_CLIENT,
            "client_assertion": signed(self._assertion_key(resource), claims, "JWT"),
        }


def _said(verdict: Verdict, answer: MerchantAnswer) -> str:
    """Why there is no new token, without text of the merchant, which could contain what was sent."""
    if verdict == "accepted":
        return ""
    if answer.status is None:
        return f"no answer of the merchant: {answer.trouble}"
    return f"the merchant {'refused' if verdict == 'rejected' else 'was in trouble'}: status {answer.status}"
