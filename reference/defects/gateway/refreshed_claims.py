"""Gateways whose refresh builds a token anew from what they know of the agent, and not of the grant."""

from __future__ import annotations

from collections.abc import Callable

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy.token_claims import TokenFacts, access_token_claims
from gateproof.reference.outcomes import JsonObject

Claims = Callable[[TokenFacts], JsonObject]


def of_the_newest_grant(change: Callable[[JsonObject, TokenFacts], JsonObject]) -> Claims:
    """A refresh takes this from what its agent was granted last."""
    newest: dict[str, TokenFacts] = {}

    def claims(facts: TokenFacts) -> JsonObject:
        if facts.request.value("grant_type") != "refresh_token":
            newest[facts.agent.id] = facts
        return change(access_token_claims(facts), newest.get(facts.agent.id, facts))

    return claims


def audience_of(claims: JsonObject, granted: TokenFacts) -> JsonObject:
    return claims | {"aud": [granted.resource.indicator]}


def project_of(claims: JsonObject, granted: TokenFacts) -> JsonObject:
    return claims | {"ext": claims["ext"] | {"project_id": granted.resource.project_id}}


def user_of(claims: JsonObject, granted: TokenFacts) -> JsonObject:
    return claims | {"sub": granted.grant.sub}


DEFECTS = (
    defect(
        "refresh-for-the-newest-user (CODE-16): `sub` after a refresh is that of the user who authorized the "
        "agent last.",
        access_token_claims=of_the_newest_grant(user_of),
    ),
    defect(
        "refresh-for-the-newest-resource (CLAIM-02 CODE-16): `aud` after a refresh holds the Resource "
        "indicator for which the agent was authorized last.",
        access_token_claims=of_the_newest_grant(audience_of),
    ),
    defect(
        "refresh-for-the-newest-project (CLAIM-08 CODE-16): `ext.project_id` after a refresh is the Project "
        "for which the agent was authorized last.",
        access_token_claims=of_the_newest_grant(project_of),
    ),
)
