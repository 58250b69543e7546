"""Gateways that handle usual requests correctly and rare ones wrongly."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import authorization, code_exchange, proxy, token_claims
from gateproof.reference.gateway.policy.authorization import AuthorizationCheck, AuthorizationFacts
from gateproof.reference.gateway.policy.code_exchange import AgentFacts, CodeFacts, TokenRequestFacts
from gateproof.reference.gateway.policy.discovery import REDEMPTION_SCOPE
from gateproof.reference.gateway.policy.registration import NewAgent, RegistrationFacts, new_agent
from gateproof.reference.gateway.policy.token_claims import TokenFacts
from gateproof.reference.gateway.records import Agent, Grant, ProxyToken, Resource, VaultEntry, VaultKey
from gateproof.reference.gateway.store import Store
from gateproof.reference.gateway.vault import Vault
from gateproof.reference.ids import Ids
from gateproof.reference.outcomes import JsonObject, Refusal

_LOOPBACK = {"127.0.0.1", "::1", "localhost"}
_ESCAPE = re.compile("%[0-9a-fA-F]{2}")


def secret_up_to_a_colon(facts: TokenRequestFacts) -> proxy.ProxyCredentials | Refusal:
    """`client_id, secret = pair.split(":")[:2]`."""
    found = proxy.proxy_credentials(facts)
    return found if isinstance(found, Refusal) else replace(found, secret=found.secret.partition(":")[0])


def compared_as(spelled: Callable[[str], str]) -> dict[str, Any]:
    """Compares redirect URIs after this change to both."""

    def check(facts: AuthorizationFacts) -> Refusal | None:
        registered = facts.agent.redirect_uris if facts.agent is not None else ()
        if spelled(facts.value("redirect_uri")) in map(spelled, registered):
            return None
        return authorization.redirect_uri_is_registered(facts)

    honest = authorization.redirect_uri_is_registered
    return {"page_checks": instead(authorization.PAGE_CHECKS, honest, check)}


def without_a_port_on_loopback(uri: str) -> str:
    try:
        host = urlsplit(uri).hostname
        return uri if host not in _LOOPBACK else urlsplit(uri)._replace(netloc=host or "").geturl()
    except ValueError:
        return uri


def with_escapes_in_upper_case(uri: str) -> str:
    return _ESCAPE.sub(lambda found: found[0].upper(), uri)


def unless_with_a_nonce(check: AuthorizationCheck) -> AuthorizationCheck:
    return lambda facts: None if facts.value("nonce") else check(facts)


def pkce_unless_with_a_nonce() -> dict[str, Any]:
    checks = authorization.REDIRECT_CHECKS
    for honest in (authorization.challenge_is_given, authorization.challenge_method_is_s256):
        checks = instead(checks, honest, unless_with_a_nonce(honest))
    return {"redirect_checks": checks}


def public_by_null() -> dict[str, Any]:
    """An authentication method that is null or empty means a client without a secret."""
    public = set[str]()

    def registered(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
        new = new_agent(facts, ids, now)
        if "token_endpoint_auth_method" in facts.metadata and not facts.value("token_endpoint_auth_method"):
            public.add(new.agent.id)
        return new

    def credentials(facts: TokenRequestFacts) -> code_exchange.AgentCredentials | Refusal:
        if facts.value("client_id") not in public:
            return code_exchange.agent_credentials(facts)
        return code_exchange.AgentCredentials(
            client_id=facts.value("client_id"), secret=facts.value("client_secret")
        )

    def check(facts: AgentFacts) -> Refusal | None:
        is_public = facts.agent is not None and facts.agent.id in public
        return None if is_public else code_exchange.agent_secret_is_right(facts)

    honest = code_exchange.agent_secret_is_right
    return {
        "new_agent": registered,
        "agent_credentials": credentials,
        "agent_checks": instead(code_exchange.AGENT_CHECKS, honest, check),
    }


def one_client_for_a_software() -> dict[str, Any]:
    known: dict[str, NewAgent] = {}

    def registered(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
        software = facts.value("software_id")
        if not isinstance(software, str):
            return new_agent(facts, ids, now)
        return known.setdefault(software, new_agent(facts, ids, now))

    return {"new_agent": registered}


def expired_in_other_words(facts: CodeFacts) -> Refusal | None:
    refusal = code_exchange.code_is_in_time(facts)
    return None if refusal is None else replace(refusal, error="invalid_request")


def is_a_refresh(facts: TokenFacts) -> bool:
    return facts.request.value("grant_type") == "refresh_token"


def id_token_like_the_access_token(facts: TokenFacts) -> JsonObject:
    """A refresh uses the same claims for both tokens."""
    return (token_claims.access_token_claims if is_a_refresh(facts) else token_claims.id_token_claims)(facts)


def scope_again_at_a_refresh(facts: TokenFacts) -> JsonObject:
    claims = token_claims.access_token_claims(facts)
    if not is_a_refresh(facts):
        return claims
    return {**claims, "scope": " ".join(dict.fromkeys((*str(claims["scope"]).split(), REDEMPTION_SCOPE)))}


def for_the_client_of_the_form() -> dict[str, Any]:
    """HTTP Basic authenticates the client, but the form names the client of the Proxy token."""
    named = ""

    def credentials(facts: TokenRequestFacts) -> proxy.ProxyCredentials | Refusal:
        nonlocal named
        named = facts.value("client_id")
        return proxy.proxy_credentials(facts)

    def kept(store: Store, token: str, record: ProxyToken, now: float) -> None:
        other = store.proxy_clients.get(named)
        if other is not None:
            record = replace(record, client_id=other.id, project_id=other.project_id)
        proxy.keep_proxy_token(store, token, record, now)

    return {"proxy_credentials": credentials, "keep_proxy_token": kept}


def one_of_the_first_five(facts: AuthorizationFacts) -> Refusal | None:
    agent = facts.agent
    few = replace(agent, redirect_uris=agent.redirect_uris[:5]) if agent is not None else None
    return authorization.redirect_uri_is_registered(replace(facts, agent=few))


class MendedByItsOwnAgent(Vault):
    """After a rejection, provisions only for the agent of the last provisioning."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self._came_for: dict[VaultKey, str] = {}

    async def _provision(self, grant: Grant, agent: Agent, resource: Resource) -> Any:
        key = self._policies.vault_key(grant, resource)
        entry = self._store.vault.get(key)
        if entry is not None and entry.needs_reauthentication and self._came_for.get(key) != agent.id:
            return "accepted"
        self._came_for[key] = agent.id
        return await super()._provision(grant, agent, resource)


class ClosedByARejection(Vault):
    """A rejected refresh blocks the Resource for all users until one of them authorizes again."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self._closed = set[str]()

    async def _provision(self, grant: Grant, agent: Agent, resource: Resource) -> Any:
        self._closed.discard(resource.id)
        return await super()._provision(grant, agent, resource)

    async def merchant_token(self, key: VaultKey, resource: Resource) -> VaultEntry | Refusal:
        if resource.id in self._closed:
            return self._policies.reauthentication_required()
        found = await super().merchant_token(key, resource)
        entry = self._store.vault.get(key)
        if isinstance(found, Refusal) and entry is not None and entry.needs_reauthentication:
            self._closed.add(resource.id)
        return found


DEFECTS = (
    defect(
        "proxy-token-for-the-client-of-the-form (REDEEM-05): The gateway issues a Proxy token for the "
        "client_id in the form, not for the client that authenticated with HTTP Basic.",
        **for_the_client_of_the_form(),
    ),
    defect(
        "sixth-redirect-uri-forgotten (AUTHZ-01): The authorization endpoint accepts only the first five "
        "redirect URIs of an agent.",
        page_checks=instead(
            authorization.PAGE_CHECKS, authorization.redirect_uri_is_registered, one_of_the_first_five
        ),
    ),
    defect(
        "proxy-secret-up-to-a-colon (PROXY-03): The gateway ignores the first colon in a Proxy client's "
        "secret and everything after it.",
        proxy_credentials=secret_up_to_a_colon,
    ),
    defect(
        "any-port-on-loopback (AUTHZ-06): The gateway ignores the port when it compares redirect URIs on "
        "loopback hosts.",
        **compared_as(without_a_port_on_loopback),
    ),
    defect(
        "escapes-in-any-case (AUTHZ-06): The gateway compares percent-escapes in redirect URIs "
        "case-insensitively.",
        **compared_as(with_escapes_in_upper_case),
    ),
    defect(
        "no-pkce-with-a-nonce (AUTHZ-03 AUTHZ-04): The gateway does not require PKCE if the authorization "
        "request has a nonce.",
        **pkce_unless_with_a_nonce(),
    ),
    defect(
        "public-by-null (REG-15): An agent that registers with token_endpoint_auth_method null needs no "
        "client secret.",
        **public_by_null(),
    ),
    defect(
        "one-client-for-a-software (REG-09): Agents that register with the same software_id get the same "
        "client.",
        **one_client_for_a_software(),
    ),
    defect(
        "expired-in-other-words (CODE-03): The gateway refuses an expired code with invalid_request.",
        code_checks=instead(code_exchange.CODE_CHECKS, code_exchange.code_is_in_time, expired_in_other_words),
    ),
    defect(
        "id-token-of-a-refresh-redeems (REDEEM-07 CLAIM-10 CLAIM-11): The ID token from a refresh has the "
        "claims of the access token, so it redeems.",
        id_token_claims=id_token_like_the_access_token,
        id_token_type=token_claims.ACCESS_TOKEN_TYPE,
    ),
    defect(
        "scope-again-at-a-refresh (REDEEM-08 CODE-16): A refresh adds the redemption scope to the access "
        "token of an agent from which it is withheld.",
        access_token_claims=scope_again_at_a_refresh,
    ),
    defect(
        "mended-by-its-own-agent (VAULT-04 ROBUST-04): After a rejected refresh, only an authorization of "
        "the agent that was used before brings a new merchant token.",
        vault_factory=MendedByItsOwnAgent,
    ),
    defect(
        "closed-by-a-rejection (REDEEM-01 VAULT-02 VAULT-03 VAULT-04 ROBUST-04): After a rejected refresh "
        "of one user, redemptions of all users at the Resource get 410 until somebody authorizes again.",
        vault_factory=ClosedByARejection,
    ),
)
