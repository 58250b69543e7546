"""The redemption endpoint: a gateway access token for the merchant token."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy.redemption import RawBody, RedemptionFacts
from gateproof.reference.gateway.records import VaultEntry
from gateproof.reference.outcomes import Refusal, first_refusal
from gateproof.reference.web import Endpoint, body_of, json_answer, media_type, query_of, refusal_answer


def redeem(gateway: Gateway) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        policies = gateway.policies
        outcome = await _redeemed(gateway, request, await _body(gateway, request))
        if isinstance(outcome, Refusal):
            return refusal_answer(outcome, policies.redemption_headers)
        return json_answer(policies.redemption_answer(outcome), headers=policies.redemption_headers)

    return endpoint


async def _body(gateway: Gateway, request: Request) -> Any:
    octets = await body_of(request)
    raw = RawBody(octets=octets, media_type=media_type(request), query=query_of(request) or ())
    return gateway.policies.redemption_body(raw)


async def _redeemed(gateway: Gateway, request: Request, body: Any) -> VaultEntry | Refusal:
    policies = gateway.policies
    facts = _facts(gateway, request, body)
    if refusal := first_refusal(policies.redemption_checks, facts):
        return refusal
    resource = policies.redeemed_resource(facts)
    if resource is None or facts.grant is None:
        return policies.resource_not_found()
    entry = await gateway.vault.merchant_token(policies.vault_key(facts.grant, resource), resource)
    # The merchant may have taken seconds, so revocations are checked again.
    return first_refusal(policies.redemption_rechecks, _as_of_now(gateway, facts)) or entry


def _as_of_now(gateway: Gateway, facts: RedemptionFacts) -> RedemptionFacts:
    """The same facts, with grant and Proxy client read again."""
    token = facts.proxy_token
    return replace(
        facts,
        grant=gateway.policies.grant_behind(facts.claims, gateway.store) if facts.claims else None,
        proxy_client=gateway.store.proxy_clients.get(token.client_id) if token else None,
    )


def _facts(gateway: Gateway, request: Request, body: Any) -> RedemptionFacts:
    """The facts for the policies, at this moment."""
    store, policies, now = gateway.store, gateway.policies, gateway.clock.now()
    authorizations = tuple(request.headers.getlist("authorization"))
    proxy_headers = tuple(request.headers.getlist("x-proxy-token"))
    bearer = policies.bearer_token(authorizations)
    keys = policies.live_core_keys(store.core_keys, now)
    claims = policies.verified_claims(bearer, keys, gateway.issuer, now) if bearer else None
    proxy_token = policies.proxy_token_behind(store, proxy_headers[0]) if proxy_headers else None
    return RedemptionFacts(
        authorizations=authorizations,
        proxy_headers=proxy_headers,
        body=body,
        claims=claims,
        grant=policies.grant_behind(claims, store) if claims else None,
        proxy_token=proxy_token,
        proxy_client=store.proxy_clients.get(proxy_token.client_id) if proxy_token else None,
        resources=tuple(store.resources.values()),
        now=now,
    )
