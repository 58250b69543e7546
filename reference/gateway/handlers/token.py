"""The token endpoint: grants of agents, and Proxy tokens."""

from __future__ import annotations

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.handlers.issuing import issue
from gateproof.reference.gateway.policy.code_exchange import (
    AgentFacts,
    CodeFacts,
    CodeRefused,
    RefreshFacts,
    TokenRequestFacts,
)
from gateproof.reference.gateway.policy.proxy import ProxyClientFacts
from gateproof.reference.gateway.records import Agent, ProxyToken
from gateproof.reference.ids import fingerprint
from gateproof.reference.outcomes import JsonObject, Refusal, first_refusal
from gateproof.reference.web import Endpoint, form_of, json_answer, query_of, refusal_answer

NO_FORM = Refusal(status=400, error="invalid_request", description="the body has to be form-encoded")


def token(gateway: Gateway) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        headers = gateway.policies.token_headers
        form, query = await form_of(request) if request.method == "POST" else (), query_of(request)
        if form is None or query is None:
            return refusal_answer(NO_FORM, headers)
        facts = TokenRequestFacts(
            form=gateway.policies.token_fields(form, query),
            query_names=frozenset(name for name, _ in query),
            authorization=request.headers.get("authorization"),
        )
        outcome = first_refusal(gateway.policies.token_request_checks, facts) or await _granted(
            gateway, facts
        )
        if isinstance(outcome, Refusal):
            return refusal_answer(outcome, headers)
        return json_answer(outcome, headers=headers)

    return endpoint


async def _granted(gateway: Gateway, facts: TokenRequestFacts) -> JsonObject | Refusal:
    match facts.value("grant_type"):
        case "client_credentials":
            return _proxy_token(gateway, facts)
        case "authorization_code":
            return await _exchange(gateway, facts)
        case "refresh_token":
            return _refresh(gateway, facts)
        case "":
            return Refusal(status=400, error="invalid_request", description="grant_type is missing")
        case _:
            return Refusal(
                status=400, error="unsupported_grant_type", description="this grant is not supported"
            )


def _proxy_token(gateway: Gateway, facts: TokenRequestFacts) -> JsonObject | Refusal:
    policies, store = gateway.policies, gateway.store
    credentials = policies.proxy_credentials(facts)
    if isinstance(credentials, Refusal):
        return credentials
    client = policies.proxy_client_named(store, credentials)
    client_facts = ProxyClientFacts(credentials=credentials, client=client)
    refusal = first_refusal(policies.proxy_client_checks, client_facts)
    if client is None or refusal is not None:
        return refusal or Refusal(status=401, error="invalid_client", description="unknown Proxy client")
    now, lifetime = gateway.clock.now(), policies.proxy_token_lifetime_s
    record = ProxyToken(client_id=client.id, project_id=client.project_id, expires_at=now + lifetime)
    token = policies.new_proxy_token(record, store.core_keys, gateway.ids)
    policies.keep_proxy_token(store, token, record, now)
    return policies.proxy_token_answer(token, lifetime)


async def _exchange(gateway: Gateway, facts: TokenRequestFacts) -> JsonObject | Refusal:
    policies, store = gateway.policies, gateway.store
    agent = _authenticated(gateway, facts)
    if isinstance(agent, Refusal):
        return agent
    if refusal := policies.exchange_fields(facts):
        return refusal
    code_facts = CodeFacts(
        code=None,
        agent=agent,
        redirect_uri=facts.value("redirect_uri"),
        verifier=facts.value("code_verifier"),
        now=gateway.clock.now(),
    )
    key = fingerprint(facts.value("code"))
    outcome = await policies.spend_code(store.codes, key, policies.code_checks, code_facts)
    if isinstance(outcome, CodeRefused):
        if outcome.revokes is not None:
            store.revoke_grant(outcome.revokes)
        return outcome.refusal
    return issue(gateway, agent, store.grants.get(outcome.grant_id), request=facts)


def _refresh(gateway: Gateway, facts: TokenRequestFacts) -> JsonObject | Refusal:
    """A refresh token works once. A second use may be a theft, so it revokes the grant."""
    policies, store = gateway.policies, gateway.store
    agent = _authenticated(gateway, facts)
    if isinstance(agent, Refusal):
        return agent
    key = fingerprint(facts.value("refresh_token"))
    record = store.refresh_tokens.get(key)
    grant = store.grants.get(record.grant_id) if record else None
    refresh_facts = RefreshFacts(
        token=record,
        grant=grant,
        agent=agent,
        scopes=tuple(facts.value("scope").split()),
        now=gateway.clock.now(),
    )
    if refusal := first_refusal(policies.refresh_checks, refresh_facts):
        if record is not None and record.spent and record.agent_id == agent.id:
            store.revoke_grant(record.grant_id)
        return refusal
    if record is not None:
        store.refresh_tokens.change(key, replace(record, spent=True))
        store.grants.renew(record.grant_id, refresh_facts.now)
    return issue(gateway, agent, grant, request=facts, only=refresh_facts.scopes)


def _authenticated(gateway: Gateway, facts: TokenRequestFacts) -> Agent | Refusal:
    policies = gateway.policies
    credentials = policies.agent_credentials(facts)
    if isinstance(credentials, Refusal):
        return credentials
    agent = policies.agent_named(gateway.store.agents, credentials.client_id)
    agent_facts = AgentFacts(credentials=credentials, agent=agent, now=gateway.clock.now())
    refusal = first_refusal(policies.agent_checks, agent_facts)
    if agent is None or refusal is not None:
        return refusal or Refusal(status=401, error="invalid_client", description="unknown client")
    return agent
