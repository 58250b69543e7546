"""The claims of the tokens for agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateproof.reference.gateway.policy.code_exchange import TokenRequestFacts
from gateproof.reference.gateway.policy.discovery import REDEMPTION_SCOPE
from gateproof.reference.gateway.policy.registration import domain_of
from gateproof.reference.gateway.records import Agent, Grant, Resource
from gateproof.reference.ids import Ids
from gateproof.reference.outcomes import JsonObject

ACCESS_TOKEN_LIFETIME_S = 3600
ACCESS_TOKEN_TYPE = "at+jwt"  # noqa: S105 - a media type of RFC 9068
ID_TOKEN_TYPE = "JWT"  # noqa: S105 - a media type
# The gateway requires assurance level 2 of the merchant's identity provider.
ACR = "urn:gateway:acr:al2"
AMR_WHEN_UNSAID = ("pwd",)


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenFacts:
    """Everything that the claims depend on, and the token request."""

    issuer: str
    resource: Resource
    agent: Agent
    grant: Grant
    scopes: tuple[str, ...]
    jti: str
    now: float
    request: TokenRequestFacts = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Tokens:
    """The tokens of one answer."""

    access_token: str = field(repr=False)
    id_token: str = field(repr=False)
    refresh_token: str = field(repr=False)


def subject(known: Mapping[tuple[str, str], str], project_id: str, login_id: str, ids: Ids) -> str:
    """A random subject, the same for a user within a Project, different in other Projects."""
    return known.get((project_id, login_id)) or ids.identifier("sub_")


def granted_scopes(requested: tuple[str, ...], agent: Agent) -> tuple[str, ...]:
    """The requested scopes, plus the scope for redemption unless it is withheld from this agent."""
    asked = tuple(scope for scope in requested if scope != REDEMPTION_SCOPE)
    return asked if agent.withholds_redemption_scope else (*asked, REDEMPTION_SCOPE)


def agent_claim(agent: Agent) -> JsonObject:
    return {
        "client_id": agent.id,
        "domain": domain_of(agent.redirect_uris),
        "name": agent.name,
        "verifications": [],
    }


def access_token_claims(facts: TokenFacts) -> JsonObject:
    """The claims of the gateway access token: for one Resource, without personal data."""
    return {
        "iss": facts.issuer,
        "aud": [facts.resource.indicator],
        "sub": facts.grant.sub,
        "exp": int(facts.now) + ACCESS_TOKEN_LIFETIME_S,
        "iat": int(facts.now),
        "jti": facts.jti,
        "client_id": facts.agent.id,
        "scope": " ".join(facts.scopes),
        "ext": {
            "acr": ACR,
            "amr": list(facts.grant.person.amr or AMR_WHEN_UNSAID),
            "agent": agent_claim(facts.agent),
            "project_id": facts.resource.project_id,
        },
    }


def id_token_claims(facts: TokenFacts) -> JsonObject:
    """The claims of the ID token: about the user, with the agent as audience."""
    person = facts.grant.person
    return {
        "iss": facts.issuer,
        "aud": facts.agent.id,
        "sub": facts.grant.sub,
        "exp": int(facts.now) + ACCESS_TOKEN_LIFETIME_S,
        "iat": int(facts.now),
        "auth_time": int(person.signed_in_at),
        "preferred_username": person.preferred_username,
        **({"email": person.email} if person.email else {}),
        **({"nonce": facts.grant.nonce} if facts.grant.nonce else {}),
    }


def new_refresh_token(facts: TokenFacts, ids: Ids) -> str:  # noqa: ARG001 - it is random
    """An opaque random token."""
    return ids.secret()


def token_answer(facts: TokenFacts, tokens: Tokens) -> JsonObject:
    """The answer with the three tokens; it repeats nothing of the request."""
    return {
        "access_token": tokens.access_token,
        "token_type": "Bearer",
        "expires_in": ACCESS_TOKEN_LIFETIME_S,
        "refresh_token": tokens.refresh_token,
        "id_token": tokens.id_token,
        "scope": " ".join(facts.scopes),
    }
