"""What stands in the tokens that an agent gets."""

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
# Assurance level 2 is what the gateway asks of a merchant's identity provider.
ACR = "urn:gateway:acr:al2"
AMR_WHEN_UNSAID = ("pwd",)


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenFacts:
    """For whom and for what tokens are made, and the request that asked for them."""

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
    """A user is the same within a Project, a stranger in the next, and the name tells nothing."""
    return known.get((project_id, login_id)) or ids.identifier("sub_")


def granted_scopes(requested: tuple[str, ...], agent: Agent) -> tuple[str, ...]:
    """What was asked for, and the right to redeem unless the Project withholds it from this agent."""
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
    """The gateway access token: bound to one Resource, and nothing in it tells who the user is."""
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
    """The ID token: about the user, for the agent and not for the merchant's API."""
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


def new_refresh_token(facts: TokenFacts, ids: Ids) -> str:  # noqa: ARG001 - it says nothing about anybody
    """Opaque: random and nothing else."""
    return ids.secret()


def token_answer(facts: TokenFacts, tokens: Tokens) -> JsonObject:
    """The three tokens; nothing of what was sent comes back."""
    return {
        "access_token": tokens.access_token,
        "token_type": "Bearer",
        "expires_in": ACCESS_TOKEN_LIFETIME_S,
        "refresh_token": tokens.refresh_token,
        "id_token": tokens.id_token,
        "scope": " ".join(facts.scopes),
    }
