"""Gateways that have nothing for whoever comes second, again or later, and for nobody else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from dataclasses import replace
from itertools import count
from typing import Any
from urllib.parse import parse_qs

from gateproof.reference.defects.defect import without
from gateproof.reference.defects.gateway.proxy_clients import from_form_or_basic
from gateproof.reference.defects.gateway.registration import answering
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy.authorization import PAGE_CHECKS, AuthorizationFacts
from gateproof.reference.gateway.policy.proxy import ProxyCredentials, proxy_client_named
from gateproof.reference.gateway.policy.registration import REGISTRATION_CHECKS, grants_are_supported
from gateproof.reference.gateway.policy.token_claims import TokenFacts, access_token_claims
from gateproof.reference.gateway.policy.vault import Verdict
from gateproof.reference.gateway.records import Agent, Grant, ProxyClient, Resource, VaultEntry, VaultKey
from gateproof.reference.gateway.store import Store
from gateproof.reference.gateway.vault import Vault
from gateproof.reference.outcomes import JsonObject, Refusal

DAY_S, NINETY_DAYS_S, TEN_MINUTES_S = 86400.0, 90 * 86400.0, 600.0
NUMBERS = count(1001)


def found_for_the_first_resource(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """`resources[0]`, compared with what the path names."""
    if not asked.path.endswith("/.well-known/openid-configuration"):
        return answered
    found = gateway.store.resources.get(asked.path.split("/")[-3])
    mates = [
        each for each in gateway.store.resources.values() if found and each.project_id == found.project_id
    ]
    return replace(answered, status=404) if mates and mates[0] is not found else answered


def found_in_the_first_project(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """Who came first is who there is."""
    if not asked.path.endswith("/.well-known/openid-configuration"):
        return answered
    found = gateway.store.resources.get(asked.path.split("/")[-3])
    is_another = found is not None and found.project_id != next(iter(gateway.store.projects), "")
    return replace(answered, status=404) if is_another else answered


def agents_of_old_forgotten(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """A job clears the table of agents by the time of registration."""
    if not asked.path.endswith("/oauth2/auth"):
        return answered
    agent = gateway.store.agents.get("".join(parse_qs(asked.query).get("client_id", [])))
    if agent is None or gateway.clock.now() < agent.registered_at + NINETY_DAYS_S:
        return answered
    return Answered(
        status=400, headers=(("content-type", "text/html"),), body=b"<p>This agent is unknown.</p>"
    )


def unused_agents_forgotten(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """A job clears away what nobody has used within a day."""
    if not asked.path.endswith("/oauth2/auth"):
        return answered
    agent = gateway.store.agents.get("".join(parse_qs(asked.query).get("client_id", [])))
    known = agent is None or any(agent_id == agent.id for _, agent_id in gateway.store.standings)
    if agent is None or known or gateway.clock.now() < agent.registered_at + DAY_S:
        return answered
    return Answered(
        status=400, headers=(("content-type", "text/html"),), body=b"<p>This agent is unknown.</p>"
    )


def service_client(store: Store, credentials: ProxyCredentials) -> ProxyClient | None:
    """Whoever registers for client_credentials is a service of the Project that met an agent last."""
    agent = store.agents.get(credentials.client_id)
    if agent is None or "client_credentials" not in agent.grant_types:
        return proxy_client_named(store, credentials)
    project_id, _ = next(reversed(store.standings))
    service = ProxyClient(id=agent.id, secret=agent.secret, project_id=project_id)
    return store.proxy_clients.setdefault(agent.id, service)


def no_code_for_who_asked(facts: AuthorizationFacts) -> Refusal | None:
    """A service has no users."""
    if facts.agent is None or "client_credentials" not in facts.agent.grant_types:
        return None
    return Refusal(status=400, error="unauthorized_client", description="This client has no users.")


def audience_of_the_agent() -> Callable[[TokenFacts], JsonObject]:
    """An agent's audience is written down with its first token."""
    first: dict[str, Any] = {}

    def claims(facts: TokenFacts) -> JsonObject:
        found = access_token_claims(facts)
        return found | {"aud": first.setdefault(facts.agent.id, found["aud"])}

    return claims


class ForgetsInTenMinutes(Vault):
    """Merchant tokens are kept in a cache that has a lifetime of its own."""

    async def merchant_token(self, key: VaultKey, resource: Resource) -> VaultEntry | Refusal:
        entry = self._store.vault.get(key)
        if entry is not None and self._clock.now() > entry.issued_at + TEN_MINUTES_S:
            del self._store.vault[key]
        return await super().merchant_token(key, resource)


class Attentive(Vault):
    """Knows, as a sign-in provisions, what the entry was like before."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self._marked: set[Hashable] = set()

    def _is_lost(self, grant: Grant, resource: Resource) -> bool:
        entry = self._store.vault.get(self._policies.vault_key(grant, resource))
        return entry is not None and entry.needs_reauthentication


class MendsForOneRedemption(Attentive):
    """The state that says "sign in again" is passed over once after a sign-in, and stays."""

    async def _provision(self, grant: Grant, agent: Agent, resource: Resource) -> Verdict:
        if self._is_lost(grant, resource):
            self._marked.add(self._policies.vault_key(grant, resource))
        return await super()._provision(grant, agent, resource)

    async def merchant_token(self, key: VaultKey, resource: Resource) -> VaultEntry | Refusal:
        answer = await super().merchant_token(key, resource)
        if key in self._marked and isinstance(answer, VaultEntry):
            self._marked.discard(key)
            self._store.vault[key] = self._policies.rejected_entry(answer)
        return answer


class BreaksOnTheLost(Attentive):
    """A sign-in raises where the state of the entry is one that it does not expect."""

    async def _provision(self, grant: Grant, agent: Agent, resource: Resource) -> Verdict:
        if self._is_lost(grant, resource):
            raise LookupError
        return await super()._provision(grant, agent, resource)


class InsertsUsers(Attentive):
    """A user is written down at the first sign-in; of two first sign-ins at once, one breaks."""

    async def _provision(self, grant: Grant, agent: Agent, resource: Resource) -> Verdict:
        key = self._policies.vault_key(grant, resource)
        user, arriving = (key.project_id, key.login_id), ("arriving", key.project_id, key.login_id)
        if arriving in self._marked:
            raise LookupError
        if user not in self._marked:
            self._marked.add(arriving)
        try:
            return await super()._provision(grant, agent, resource)
        finally:
            self._marked.discard(arriving)
            self._marked.add(user)


class KeepsTheLock(Attentive):
    """The lock of a merchant token is given back by whoever took it, unless somebody else came for it."""

    async def _refresh_together(self, key: VaultKey, entry: VaultEntry, resource: Resource) -> Verdict:
        together = self._policies.flight_key(key)
        if together in self._flights:
            self._marked.add(together)
        if together in self._marked:
            await asyncio.Event().wait()
        return await super()._refresh_together(key, entry, resource)


DEFECTS = (
    defect(
        "discovery-of-first-resources-alone (DISC-01): Of a Project's Resources the first one alone has a "
        "discovery document.",
        around=meddling(found_for_the_first_resource),
    ),
    defect(
        "discovery-of-the-first-project-alone (DISC-01): Resources of the first Project alone have a "
        "discovery document.",
        around=meddling(found_in_the_first_project),
    ),
    defect(
        "client-id-is-a-number (REG-02): The client ID in the answer to a registration is a number.",
        registration_answer=answering(lambda _: {"client_id": next(NUMBERS)}),
    ),
    defect(
        "agents-forgotten-after-ninety-days (REG-14): An agent that registered ninety days ago cannot "
        "authorize.",
        around=meddling(agents_of_old_forgotten),
    ),
    defect(
        "unused-agents-forgotten-after-a-day (REG-14): An agent that has not authorized within a day of its "
        "registration is unknown.",
        around=meddling(unused_agents_forgotten),
    ),
    defect(
        "aud-of-the-agents-first-resource (CLAIM-02): Every token of an agent has the audience of its first "
        "one.",
        access_token_claims=audience_of_the_agent(),
    ),
    defect(
        "agent-that-asked-is-a-service-client (PROXY-08): An agent that registers for client_credentials "
        "gets Proxy tokens, and no codes.",
        registration_checks=without(REGISTRATION_CHECKS, grants_are_supported),
        proxy_client_named=service_client,
        proxy_credentials=from_form_or_basic,
        page_checks=(*PAGE_CHECKS, no_code_for_who_asked),
    ),
    defect(
        "first-sign-ins-collide (AUTHZ-01): Of two first sign-ins of a user at the same time, one ends in "
        "an error.",
        vault_at_work=InsertsUsers,
    ),
    defect(
        "sign-in-breaks-where-it-is-needed (VAULT-04 ROBUST-04): A user whose merchant token is lost cannot "
        "sign in again.",
        vault_at_work=BreaksOnTheLost,
    ),
    defect(
        "merchant-token-forgotten-in-ten-minutes (VAULT-05 ROBUST-04): A merchant token is forgotten ten "
        "minutes after it came, however long it lives.",
        vault_at_work=ForgetsInTenMinutes,
    ),
    defect(
        "sign-in-mends-for-one-redemption (VAULT-05 ROBUST-04): After a 410 and a new sign-in the vault "
        "answers once, and then with 410 again.",
        vault_at_work=MendsForOneRedemption,
    ),
    defect(
        "lock-of-a-crowd-is-kept (VAULT-07): Where redemptions meet at an expiry, the merchant token is "
        "locked for good.",
        vault_at_work=KeepsTheLock,
    ),
)
