"""Gateways that take claims at a refresh from the agent's newest grant instead of the refreshed one."""

from __future__ import annotations

from collections.abc import Callable

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy.token_claims import TokenFacts, access_token_claims
from gateproof.reference.outcomes import JsonObject

Claims = Callable[[TokenFacts], JsonObject]


def of_the_newest_grant(change: Callable[[JsonObject, TokenFacts], JsonObject]) -> Claims:
    """At a refresh, applies `change` with the facts of the agent's last code exchange."""
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
        "refresh-for-the-newest-user (CODE-16): After a refresh, `sub` is that of the user who authorized "
        "the agent last.",
        access_token_claims=of_the_newest_grant(user_of),
    ),
    defect(
        "refresh-for-the-newest-resource (CLAIM-02 CODE-16): After a refresh, `aud` is the Resource "
        "indicator for which the agent was authorized last.",
        access_token_claims=of_the_newest_grant(audience_of),
    ),
    defect(
        "refresh-for-the-newest-project (CLAIM-08 CODE-16): After a refresh, `ext.project_id` is the "
        "Project for which the agent was authorized last.",
        access_token_claims=of_the_newest_grant(project_of),
    ),
)
