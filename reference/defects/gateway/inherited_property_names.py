"""Gateways that fail on a name that every JavaScript object has as a property, or on a NUL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import jwt

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.keys import SigningKey
from gateproof.reference.gateway.pages import ApprovePageFacts, approve_page
from gateproof.reference.gateway.policy import authorization, code_exchange, proxy, redemption
from gateproof.reference.gateway.policy.code_exchange import TokenRequestFacts
from gateproof.reference.gateway.policy.redemption import RedemptionFacts
from gateproof.reference.gateway.records import Agent, ProxyClient, Resource
from gateproof.reference.gateway.store import Store
from gateproof.reference.outcomes import Refusal

# Names for which `name in {}` is true in JavaScript.
INHERITED = ("__proto__", "constructor", "toString", "hasOwnProperty")


def not_inherited(name: object) -> None:
    """Raises for such a name: the lookup finds a function instead of a record."""
    if name in INHERITED:
        raise LookupError(name)


def agent_in_an_object(agents: Mapping[str, Agent], client_id: str) -> Agent | None:
    not_inherited(client_id)
    return authorization.agent_named(agents, client_id)


def proxy_client_in_an_object(store: Store, credentials: proxy.ProxyCredentials) -> ProxyClient | None:
    not_inherited(credentials.client_id)
    return proxy.proxy_client_named(store, credentials)


def resource_in_an_object(facts: RedemptionFacts) -> Resource | None:
    not_inherited(facts.indicator)
    return redemption.redeemed_resource(facts)


def resource_as_a_c_string(facts: RedemptionFacts) -> Resource | None:
    """The database raises an exception for NUL in a text."""
    if isinstance(facts.indicator, str) and "\x00" in facts.indicator:
        raise ValueError("invalid byte sequence")
    return redemption.redeemed_resource(facts)


def grant_in_an_object(facts: TokenRequestFacts) -> Refusal | None:
    not_inherited(facts.value("grant_type"))
    return None


def key_in_an_object(
    token: str, keys: Iterable[SigningKey], issuer: str, now: float
) -> Mapping[str, Any] | None:
    try:
        not_inherited(jwt.get_unverified_header(token).get("kid"))
    except jwt.PyJWTError:
        return None
    return redemption.verified_claims(token, keys, issuer, now)


def agent_on_the_page(facts: ApprovePageFacts) -> str:
    not_inherited(facts.agent.name)
    return approve_page(facts)


def path_in_an_object(asked: Asked, answered: Answered, _: Gateway) -> Answered:
    if set(INHERITED) & set(asked.path.split("/")):
        return replace(answered, status=500, body=b'{"error": "server_error"}')
    return answered


DEFECTS = (
    defect(
        "agents-in-an-object (ROBUST-01): The gateway answers 500 to a client_id that is a property of "
        "every JavaScript object, such as constructor.",
        agent_named=agent_in_an_object,
    ),
    defect(
        "proxy-clients-in-an-object (ROBUST-01): The gateway answers 500 to a Proxy client's ID that is a "
        "property of every JavaScript object.",
        proxy_client_named=proxy_client_in_an_object,
    ),
    defect(
        "resources-in-an-object (ROBUST-01): The gateway answers 500 to a Resource indicator that is a "
        "property of every JavaScript object.",
        redeemed_resource=resource_in_an_object,
    ),
    defect(
        "nul-in-an-indicator-unguarded (ROBUST-01): The gateway answers 500 to a Resource indicator with a "
        "NUL character.",
        redeemed_resource=resource_as_a_c_string,
    ),
    defect(
        "grants-in-an-object (ROBUST-01): The gateway answers 500 to a grant_type that is a property of "
        "every JavaScript object.",
        token_request_checks=(*code_exchange.TOKEN_REQUEST_CHECKS, grant_in_an_object),
    ),
    defect(
        "keys-in-an-object (ROBUST-01): The gateway answers 500 to an access token whose kid is a property "
        "of every JavaScript object.",
        verified_claims=key_in_an_object,
    ),
    defect(
        "agent-name-in-an-object (ROBUST-01): The approve page is a 500 if the agent's name is a property "
        "of every JavaScript object.",
        approve_page=agent_on_the_page,
    ),
    defect(
        "paths-in-an-object (ROBUST-01): The gateway answers 500 to a path with a segment that is a "
        "property of every JavaScript object, for example as the Resource ID.",
        around=altering_answers(path_in_an_object),
    ),
)
