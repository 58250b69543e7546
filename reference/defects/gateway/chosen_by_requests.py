"""Gateways in which a request chooses what the sign-in, the Resource or the credentials should decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import redemption
from gateproof.reference.gateway.policy.authorization import AuthorizationFacts, authorization_request
from gateproof.reference.gateway.policy.discovery import REDEMPTION_SCOPE
from gateproof.reference.gateway.policy.redemption import (
    REDEMPTION_CHECKS,
    RawBody,
    RedemptionCheck,
    RedemptionFacts,
)
from gateproof.reference.gateway.policy.token_claims import TokenFacts, access_token_claims
from gateproof.reference.gateway.records import AuthorizationRequest, Grant, Resource, VaultKey
from gateproof.reference.outcomes import JsonObject, Refusal

# The body of the redemption that this task serves.
_BODY: ContextVar[Mapping[str, Any]] = ContextVar("body")


def body_beside_the_query(raw: RawBody) -> Any:
    """The members of the body, and those of the query that the body lacks."""
    document = redemption.redemption_body(raw)
    return {**dict(raw.query), **document} if isinstance(document, dict) else document


def remembering_the_body(facts: RedemptionFacts) -> Resource | None:
    _BODY.set(facts.body)
    return redemption.redeemed_resource(facts)


def user_of_the_body(*names: str) -> Callable[[Grant, Resource], VaultKey]:
    """The vault's key, of the user whom the first of these members of the body names by login or subject."""
    known: list[VaultKey] = []

    def key(grant: Grant, resource: Resource) -> VaultKey:
        body, own = _BODY.get({}), redemption.vault_key(grant, resource)
        if own not in known:
            known.append(own)
        named = next((body[name] for name in names if isinstance(body.get(name), str)), "")
        same_place = [each for each in known if each.resource_id == own.resource_id]
        return next((each for each in same_place if named in (each.login_id, each.sub)), own)

    return key


def project_of_the_body(facts: RedemptionFacts) -> Refusal | None:
    named = facts.body.get("project_id") if isinstance(facts.body, dict) else None
    token = facts.proxy_token
    return None if token and named == token.project_id else redemption.same_project(facts)


def scope_of_the_body(facts: RedemptionFacts) -> Refusal | None:
    named = facts.body.get("scope") if isinstance(facts.body, dict) else None
    return None if named == REDEMPTION_SCOPE else redemption.user_token_may_redeem(facts)


def checking(honest: RedemptionCheck, other: RedemptionCheck) -> dict[str, Any]:
    """The checks of a redemption before and after the merchant was asked, with one of them replaced."""
    checks = instead(REDEMPTION_CHECKS, honest, other)
    return {"redemption_checks": checks, "redemption_rechecks": checks}


def claiming(
    name: str, change: Callable[[JsonObject, str], JsonObject]
) -> Callable[[TokenFacts], JsonObject]:
    """The claims of an access token, changed by this field of the token request."""

    def claims(facts: TokenFacts) -> JsonObject:
        honest, asked = access_token_claims(facts), facts.request.value(name)
        return change(honest, asked) if asked else honest

    return claims


def acr_of_the_authorization() -> dict[str, Any]:
    """`ext.acr` is what the agent's last authorization request named in acr_values."""
    asked: dict[str, str] = {}

    def request(facts: AuthorizationFacts) -> AuthorizationRequest:
        asked[facts.value("client_id")] = facts.value("acr_values")
        return authorization_request(facts)

    def claims(facts: TokenFacts) -> JsonObject:
        honest, named = access_token_claims(facts), asked.get(facts.agent.id)
        return _with_ext(honest, "acr", named) if named else honest

    return {"authorization_request": request, "access_token_claims": claims}


def _with_ext(claims: JsonObject, name: str, value: object) -> JsonObject:
    return claims | {"ext": claims["ext"] | {name: value}}


DEFECTS = (
    defect(
        "user-of-the-body (REDEEM-12): The body of a redemption may name a user by login, whose merchant "
        "token is then returned.",
        redeemed_resource=remembering_the_body,
        vault_key=user_of_the_body("login", "user_id"),
    ),
    defect(
        "user-of-the-query (REDEEM-12): The query of a redemption may name a user by subject, whose merchant "
        "token is then returned.",
        redemption_body=body_beside_the_query,
        redeemed_resource=remembering_the_body,
        vault_key=user_of_the_body("sub"),
    ),
    defect(
        "project-of-the-body (REDEEM-05): A redemption is in the Project that its body names, if that is the "
        "Proxy token's.",
        **checking(redemption.same_project, project_of_the_body),
    ),
    defect(
        "scope-of-the-body (REDEEM-08): A redemption whose body names the scope needs no scope in the token.",
        **checking(redemption.user_token_may_redeem, scope_of_the_body),
    ),
    defect(
        "acr-as-asked-for (CLAIM-05): ext.acr is what the authorization request names in acr_values.",
        **acr_of_the_authorization(),
    ),
    defect(
        "acr-of-the-form (CLAIM-05): ext.acr is what the token request names in acr.",
        access_token_claims=claiming("acr", lambda claims, asked: _with_ext(claims, "acr", asked)),
    ),
    defect(
        "project-of-the-form (CLAIM-08): ext.project_id is what the token request names in project_id.",
        access_token_claims=claiming(
            "project_id", lambda claims, asked: _with_ext(claims, "project_id", asked)
        ),
    ),
    defect(
        "sub-of-the-form (CLAIM-03): The token request may name another subject.",
        access_token_claims=claiming(
            "sub", lambda claims, asked: claims | ({"sub": asked} if asked.startswith("sub_") else {})
        ),
    ),
)
