"""Gateways that refuse only a second, repeated or later request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from dataclasses import replace
from itertools import count
from typing import Any
from urllib.parse import parse_qs

from gateproof.reference.defects.defect import without
from gateproof.reference.defects.gateway.proxy_clients import credentials_from_form_or_basic
from gateproof.reference.defects.gateway.registration import changing_answer
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
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
    """Compares the Resource in the path only with `resources[0]` of its Project."""
    if not asked.path.endswith("/.well-known/openid-configuration"):
        return answered
    found = gateway.store.resources.get(asked.path.split("/")[-3])
    mates = [
        each for each in gateway.store.resources.values() if found and each.project_id == found.project_id
    ]
    return replace(answered, status=404) if mates and mates[0] is not found else answered


def found_in_the_first_project(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """Knows only the Resources of the first Project."""
    if not asked.path.endswith("/.well-known/openid-configuration"):
        return answered
    found = gateway.store.resources.get(asked.path.split("/")[-3])
    is_another = found is not None and found.project_id != next(iter(gateway.store.projects), "")
    return replace(answered, status=404) if is_another else answered


def agents_of_old_forgotten(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """A cleanup job deletes agents ninety days after their registration."""
    if not asked.path.endswith("/oauth2/auth"):
        return answered
    agent = gateway.store.agents.get("".join(parse_qs(asked.query).get("client_id", [])))
    if agent is None or gateway.clock.now() < agent.registered_at + NINETY_DAYS_S:
        return answered
    return Answered(
        status=400, headers=(("content-type", "text/html"),), body=b"<p>This agent is unknown.</p>"
    )


def unused_agents_forgotten(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """A cleanup job deletes agents that nobody has used within a day."""
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
    """Makes an agent with client_credentials a Proxy client of the Project whose agent signed in last."""
    agent = store.agents.get(credentials.client_id)
    if agent is None or "client_credentials" not in agent.grant_types:
        return proxy_client_named(store, credentials)
    project_id, _ = next(reversed(store.standings))
    service = ProxyClient(id=agent.id, secret=agent.secret, project_id=project_id)
    return store.proxy_clients.setdefault(agent.id, service)


def no_code_for_who_asked(facts: AuthorizationFacts) -> Refusal | None:
    """Refuses authorization requests of agents with client_credentials."""
    if facts.agent is None or "client_credentials" not in facts.agent.grant_types:
        return None
    return Refusal(status=400, error="unauthorized_client", description="This client has no users.")


def audience_of_the_agent() -> Callable[[TokenFacts], JsonObject]:
    """Stores the audience of an agent's first token and uses it for all later ones."""
    first: dict[str, Any] = {}

    def claims(facts: TokenFacts) -> JsonObject:
        found = access_token_claims(facts)
        return found | {"aud": first.setdefault(facts.agent.id, found["aud"])}

    return claims


class ForgetsInTenMinutes(Vault):
    """Keeps merchant tokens in a cache with its own lifetime."""

    async def merchant_token(self, key: VaultKey, resource: Resource) -> VaultEntry | Refusal:
        entry = self._store.vault.get(key)
        if entry is not None and self._clock.now() > entry.issued_at + TEN_MINUTES_S:
            del self._store.vault[key]
        return await super().merchant_token(key, resource)


class Attentive(Vault):
    """A base class that knows at provisioning whether the old entry needs reauthentication."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self._marked: set[Hashable] = set()

    def _is_lost(self, grant: Grant, resource: Resource) -> bool:
        entry = self._store.vault.get(self._policies.vault_key(grant, resource))
        return entry is not None and entry.needs_reauthentication


class MendsForOneRedemption(Attentive):
    """After a new sign-in, one redemption succeeds; then the entry needs reauthentication again."""

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
    """A sign-in raises an exception if the old entry needs reauthentication."""

    async def _provision(self, grant: Grant, agent: Agent, resource: Resource) -> Verdict:
        if self._is_lost(grant, resource):
            raise LookupError
        return await super()._provision(grant, agent, resource)


class InsertsUsers(Attentive):
    """Inserts a user at the first sign-in; of two concurrent first sign-ins, one raises an exception."""

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
    """Does not release the lock of a merchant token once a second redemption has waited for it."""

    async def _refresh_together(self, key: VaultKey, entry: VaultEntry, resource: Resource) -> Verdict:
        together = self._policies.flight_key(key)
        if together in self._flights:
            self._marked.add(together)
        if together in self._marked:
            await asyncio.Event().wait()
        return await super()._refresh_together(key, entry, resource)


DEFECTS = (
    defect(
        "discovery-of-first-resources-alone (DISC-01): Only the first Resource of each Project has a "
        "discovery document.",
        around=altering_answers(found_for_the_first_resource),
    ),
    defect(
        "discovery-of-the-first-project-alone (DISC-01): Only Resources of the first Project have a "
        "discovery document.",
        around=altering_answers(found_in_the_first_project),
    ),
    defect(
        "client-id-is-a-number (REG-02): The client_id in the registration answer is a number.",
        registration_answer=changing_answer(lambda _: {"client_id": next(NUMBERS)}),
    ),
    defect(
        "agents-forgotten-after-ninety-days (REG-14): The gateway refuses authorization requests of an "
        "agent ninety days after its registration.",
        around=altering_answers(agents_of_old_forgotten),
    ),
    defect(
        "unused-agents-forgotten-after-a-day (REG-14): The gateway deletes an agent that has not been used "
        "within a day of its registration.",
        around=altering_answers(unused_agents_forgotten),
    ),
    defect(
        "aud-of-the-agents-first-resource (CLAIM-02): Every access token of an agent has the audience of "
        "the agent's first token.",
        access_token_claims=audience_of_the_agent(),
    ),
    defect(
        "agent-that-asked-is-a-service-client (PROXY-08): An agent that registers with the grant type "
        "client_credentials gets Proxy tokens and no codes.",
        registration_checks=without(REGISTRATION_CHECKS, grants_are_supported),
        proxy_client_named=service_client,
        proxy_credentials=credentials_from_form_or_basic,
        page_checks=(*PAGE_CHECKS, no_code_for_who_asked),
    ),
    defect(
        "first-sign-ins-collide (AUTHZ-01): If a new user signs in twice at the same time, one of the two "
        "sign-ins fails.",
        vault_factory=InsertsUsers,
    ),
    defect(
        "sign-in-breaks-where-it-is-needed (VAULT-04 ROBUST-04): A user who has to authorize again after a "
        "410 cannot sign in.",
        vault_factory=BreaksOnTheLost,
    ),
    defect(
        "merchant-token-forgotten-in-ten-minutes (VAULT-05 ROBUST-04): The gateway deletes a merchant token "
        "ten minutes after it was issued, even if it is still valid.",
        vault_factory=ForgetsInTenMinutes,
    ),
    defect(
        "sign-in-mends-for-one-redemption (VAULT-05 ROBUST-04): After a 410 and a new sign-in, one "
        "redemption succeeds, and the next ones get 410 again.",
        vault_factory=MendsForOneRedemption,
    ),
    defect(
        "lock-of-a-crowd-is-kept (VAULT-07): If redemptions meet during a refresh, the lock of the merchant "
        "token is never released, and later refreshes hang.",
        vault_factory=KeepsTheLock,
    ),
)
