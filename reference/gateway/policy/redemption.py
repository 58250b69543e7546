"""The checks of a redemption, and its answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from gateproof.doubles.compact_jws import is_signed_with, parsed_jwt
from gateproof.reference.gateway.keys import SigningKey
from gateproof.reference.gateway.policy.discovery import REDEMPTION_SCOPE
from gateproof.reference.gateway.policy.token_claims import ACCESS_TOKEN_TYPE
from gateproof.reference.gateway.records import Grant, ProxyClient, ProxyToken, Resource, VaultEntry, VaultKey
from gateproof.reference.gateway.store import Store
from gateproof.reference.ids import fingerprint
from gateproof.reference.outcomes import JsonObject, Refusal, json_in


@dataclass(frozen=True, kw_only=True, slots=True)
class RawBody:
    """The body and media type of a request, and its query."""

    octets: bytes
    media_type: str
    query: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class RedemptionFacts:
    """A redemption with all records for it; None means not found."""

    authorizations: tuple[str, ...] = field(repr=False)
    proxy_headers: tuple[str, ...] = field(repr=False)
    body: Any
    claims: Mapping[str, Any] | None = field(repr=False)
    grant: Grant | None
    proxy_token: ProxyToken | None
    proxy_client: ProxyClient | None
    resources: tuple[Resource, ...]
    now: float

    @property
    def indicator(self) -> Any:
        return self.body.get("resource") if isinstance(self.body, dict) else None

    @property
    def project_id(self) -> str | None:
        """The Project in the claims of the user's token."""
        project_id = (self.claims or {}).get("ext", {}).get("project_id")
        return project_id if isinstance(project_id, str) else None


RedemptionCheck = Callable[[RedemptionFacts], Refusal | None]


def bearer_token(authorizations: tuple[str, ...]) -> str | None:
    """The token of a Bearer header; the scheme is not case-sensitive."""
    scheme, _, token = (authorizations[0] if authorizations else "").partition(" ")
    return (token.strip() or None) if scheme.lower() == "bearer" else None


def verified_claims(
    token: str, keys: Iterable[SigningKey], issuer: str, now: float
) -> Mapping[str, Any] | None:
    """The claims of a valid gateway access token; None for anything else."""
    given = parsed_jwt(token)
    if given is None or given.header.get("typ") != ACCESS_TOKEN_TYPE:
        return None
    key = next((key for key in keys if key.kid == given.header.get("kid")), None)
    if key is None or not is_signed_with(given, key.private.public_key(), key.algorithm):
        return None
    claims = given.claims
    # We signed these claims, so their types are known.
    return claims if claims["iss"] == issuer and now < claims["exp"] else None


def grant_behind(claims: Mapping[str, Any], store: Store) -> Grant | None:
    """The grant of an access token, found by its `jti`."""
    jti = claims.get("jti")
    return store.grants.get(store.access_tokens.get(jti) or "") if isinstance(jti, str) else None


def proxy_token_behind(store: Store, token: str) -> ProxyToken | None:
    """The record of a Proxy token."""
    return store.proxy_tokens.get(fingerprint(token))


def redemption_body(body: RawBody) -> Any:
    """The JSON value of a body with a JSON media type; else None. The query is ignored."""
    return json_in(body.octets) if body.media_type == "application/json" else None


def both_headers_are_there(facts: RedemptionFacts) -> Refusal | None:
    for name, values in (("Authorization", facts.authorizations), ("X-Proxy-Token", facts.proxy_headers)):
        if len(values) != 1 or not values[0].strip():
            return _bad_request(f"the header {name} is required, once")
    return None


def resource_is_named(facts: RedemptionFacts) -> Refusal | None:
    if isinstance(facts.indicator, str):
        return None
    return _bad_request("the body has to be a JSON object with the string member resource")


def proxy_token_is_good(facts: RedemptionFacts) -> Refusal | None:
    token = facts.proxy_token
    return None if token and facts.now < token.expires_at else _unauthorized("the Proxy token is not valid")


def proxy_client_is_not_revoked(facts: RedemptionFacts) -> Refusal | None:
    """Revocation of a Proxy client also ends its earlier tokens."""
    client = facts.proxy_client
    return None if client and not client.revoked else _unauthorized("the Proxy client was revoked")


def user_token_is_good(facts: RedemptionFacts) -> Refusal | None:
    if facts.claims is not None and facts.grant is not None and not facts.grant.revoked:
        return None
    return _unauthorized("the gateway access token is not valid", error="invalid_token")


def user_token_may_redeem(facts: RedemptionFacts) -> Refusal | None:
    if facts.claims is not None and REDEMPTION_SCOPE in facts.claims["scope"].split():
        return None
    return _unauthorized(f"the gateway access token lacks {REDEMPTION_SCOPE}", error="insufficient_scope")


def same_project(facts: RedemptionFacts) -> Refusal | None:
    if facts.proxy_token is not None and facts.proxy_token.project_id == facts.project_id:
        return None
    return _unauthorized("the Proxy client belongs to another Project")


# Missing headers first. Then the caller is authenticated, before an answer tells anything about the user's
# token or about what exists.
REDEMPTION_CHECKS: tuple[RedemptionCheck, ...] = (
    both_headers_are_there,
    resource_is_named,
    proxy_token_is_good,
    proxy_client_is_not_revoked,
    user_token_is_good,
    user_token_may_redeem,
    same_project,
)


def redeemed_resource(facts: RedemptionFacts) -> Resource | None:
    """The Resource of the token, if the indicator is exactly that of the Resource."""
    for resource in facts.resources:
        if (
            facts.grant is not None
            and resource.id == facts.grant.resource_id
            and resource.project_id == facts.project_id
            and resource.indicator == facts.indicator
        ):
            return resource
    return None


def vault_key(grant: Grant, resource: Resource) -> VaultKey:
    return VaultKey(
        project_id=resource.project_id,
        sub=grant.sub,
        resource_id=resource.id,
        login_id=grant.person.login_id,
    )


def redemption_answer(entry: VaultEntry) -> JsonObject:
    """The answer with the merchant access token, never with the refresh token."""
    answer: JsonObject = {"access_token": entry.access_token}
    if entry.expires_at is not None:
        answer["expires_at"] = rfc3339(entry.expires_at)
    if entry.scopes is not None:
        answer["scopes"] = list(entry.scopes)
    return answer


def rfc3339(moment: float) -> str:
    return datetime.fromtimestamp(math.floor(moment), UTC).isoformat().replace("+00:00", "Z")


def resource_not_found() -> Refusal:
    return Refusal(
        status=404,
        error="resource_not_found",
        description="this is not the indicator of the token's Resource",
    )


def nothing_cached() -> Refusal:
    return Refusal(
        status=404, error="merchant_token_not_found", description="no merchant token was cached at sign-in"
    )


def reauthentication_required() -> Refusal:
    return Refusal(
        status=410, error="reauthentication_required", description="the user has to authorize again"
    )


def merchant_unavailable() -> Refusal:
    return Refusal(
        status=503, error="temporarily_unavailable", description="the merchant cannot be reached; try again"
    )


def _bad_request(description: str) -> Refusal:
    return Refusal(status=400, error="invalid_request", description=description)


def _unauthorized(description: str, error: str = "invalid_proxy_token") -> Refusal:
    return Refusal(
        status=401, error=error, description=description, challenge=f'Bearer realm="gateway", error="{error}"'
    )
