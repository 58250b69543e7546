"""Gateways whose tokens expire too early, or whose claims change over time or at a refresh."""

from __future__ import annotations

import base64
import hashlib
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.gateway.after_another_event import Rotations
from gateproof.reference.defects.gateway.claims import (
    id_token_for_the_resource_too,
    jwt_refresh_token,
    with_claims,
)
from gateproof.reference.defects.gateway.proxy_clients import redemption_check_replaced
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import proxy, redemption, token_claims
from gateproof.reference.gateway.policy.redemption import RedemptionFacts
from gateproof.reference.gateway.policy.token_claims import ACCESS_TOKEN_LIFETIME_S, TokenFacts
from gateproof.reference.gateway.records import ProxyToken, Resource
from gateproof.reference.gateway.store import Store
from gateproof.reference.ids import Ids, fingerprint
from gateproof.reference.outcomes import JsonObject, Refusal

QUARTER_S = 90 * 86_400
MOST_PROXY_TOKENS = 10


def is_refresh(facts: TokenFacts) -> bool:
    return facts.request.value("grant_type") == "refresh_token"


def ten_a_client() -> Callable[[Store, str, ProxyToken, float], None]:
    """Keeps only the newest Proxy tokens of each client."""
    issued: dict[str, deque[str]] = {}

    def keep(store: Store, token: str, record: ProxyToken, now: float) -> None:
        proxy.keep_proxy_token(store, token, record, now)
        own = issued.setdefault(record.client_id, deque())
        own.append(fingerprint(token))
        if len(own) > MOST_PROXY_TOKENS:
            store.proxy_tokens.take(own.popleft())

    return keep


def proxy_tokens_of_their_key() -> dict[str, Any]:
    rotations, made = Rotations(), dict[str, int]()

    def keep(store: Store, token: str, record: ProxyToken, now: float) -> None:
        made[fingerprint(token)] = rotations.keys
        proxy.keep_proxy_token(store, token, record, now)

    def behind(store: Store, token: str) -> ProxyToken | None:
        known = made.get(fingerprint(token)) == rotations.keys
        return redemption.proxy_token_behind(store, token) if known else None

    return {
        "new_core_key": rotations.new_core_key,
        "keep_proxy_token": keep,
        "proxy_token_behind": behind,
    }


def for_known_resources() -> dict[str, Any]:
    """A Proxy token is valid only for the Resources that its Project has when it is issued."""
    known: dict[str, frozenset[str]] = {}

    def keep(store: Store, token: str, record: ProxyToken, now: float) -> None:
        known[token] = frozenset(each.id for each in store.resources_of(record.project_id))
        proxy.keep_proxy_token(store, token, record, now)

    def redeemed(facts: RedemptionFacts) -> Resource | None:
        resource = redemption.redeemed_resource(facts)
        held = known.get(facts.proxy_headers[0], frozenset())
        return resource if resource is not None and resource.id in held else None

    return {"keep_proxy_token": keep, "redeemed_resource": redeemed}


def known_by_the_first(key: str, name: str) -> Callable[[TokenFacts], JsonObject]:
    """Takes the member `name` of ext.agent from the first agent with the same `key`."""
    first: dict[str, object] = {}

    def agent(facts: TokenFacts) -> JsonObject:
        ext = token_claims.access_token_claims(facts)["ext"]
        said = ext["agent"] | {name: first.setdefault(ext["agent"][key], ext["agent"][name])}
        return {"ext": ext | {"agent": said}}

    return with_claims(agent)


def ends_with_the_first() -> Callable[[TokenFacts], JsonObject]:
    """Uses the expiry of the grant's first access token."""
    ends: dict[str, int] = {}
    return with_claims(
        lambda facts: {"exp": ends.setdefault(facts.grant.id, int(facts.now) + ACCESS_TOKEN_LIFETIME_S)}
    )


def session_of_the_first() -> dict[str, Any]:
    """Redemption requires a session that ends when the access token of the code exchange expires."""
    ends: dict[str, float] = {}

    def claims(facts: TokenFacts) -> JsonObject:
        ends.setdefault(facts.grant.id, facts.now + ACCESS_TOKEN_LIFETIME_S)
        return token_claims.access_token_claims(facts)

    def good(facts: RedemptionFacts) -> Refusal | None:
        over = facts.grant is not None and facts.now > ends.get(facts.grant.id, facts.now)
        return redemption.user_token_is_good(replace(facts, grant=None) if over else facts)

    return {"access_token_claims": claims, **redemption_check_replaced(redemption.user_token_is_good, good)}


def of_the_quarter(facts: TokenFacts) -> JsonObject:
    said = f"{facts.grant.sub} {facts.now // QUARTER_S}"
    return {"sub": f"sub_{hashlib.sha256(said.encode()).hexdigest()[:24]}"}


def made_of_the_login(written: Callable[[bytes], str]) -> Callable[..., str]:
    def subject(_known: Mapping[tuple[str, str], str], project_id: str, login: str, _ids: Ids) -> str:
        return "sub_" + written(f"{project_id}:{login}".encode())

    return subject


def id_token_of_a_refresh(facts: TokenFacts) -> JsonObject:
    return id_token_for_the_resource_too(facts) if is_refresh(facts) else token_claims.id_token_claims(facts)


def second_one_is_a_jwt(facts: TokenFacts, ids: Ids) -> str:
    return jwt_refresh_token(facts, ids) if is_refresh(facts) else token_claims.new_refresh_token(facts, ids)


DEFECTS = (
    defect(
        "ten-proxy-tokens-a-client (PROXY-06): A Proxy client can have ten Proxy tokens; the eleventh "
        "invalidates the first.",
        keep_proxy_token=ten_a_client(),
    ),
    defect(
        "proxy-token-for-known-resources (PROXY-06 REDEEM-01): A Proxy token redeems only at Resources that "
        "its Project had when the token was issued.",
        **for_known_resources(),
    ),
    defect(
        "agents-name-by-its-domain (CLAIM-07): The name in ext.agent is that of the first agent with the "
        "same domain.",
        access_token_claims=known_by_the_first("domain", "name"),
    ),
    defect(
        "agents-domain-by-its-name (CLAIM-07): The domain in ext.agent is that of the first agent with the "
        "same name.",
        access_token_claims=known_by_the_first("name", "domain"),
    ),
    defect(
        "proxy-tokens-end-at-a-rotation (KEYS-04): A rotation of the core key invalidates all Proxy tokens.",
        **proxy_tokens_of_their_key(),
    ),
    defect(
        "refreshed-token-ends-with-the-first (CLAIM-04): An access token from a refresh has the expiry of "
        "the grant's first access token.",
        access_token_claims=ends_with_the_first(),
    ),
    defect(
        "late-refresh-redeems-nothing (REDEEM-01): Redemption refuses access tokens from a refresh after "
        "the grant's first access token has expired.",
        **session_of_the_first(),
    ),
    defect(
        "sub-of-the-quarter (CLAIM-03): `sub` of a user changes every 90 days.",
        access_token_claims=with_claims(of_the_quarter),
    ),
    defect(
        "sub-is-the-login-backwards-in-hex (CLAIM-03): `sub` is Project and login in reverse order, in "
        "hexadecimal.",
        subject=made_of_the_login(lambda octets: octets[::-1].hex()),
    ),
    defect(
        "sub-is-the-login-in-base32 (CLAIM-03): `sub` is Project and login in base32, in lower case.",
        subject=made_of_the_login(lambda octets: base64.b32encode(octets).decode().lower().rstrip("=")),
    ),
    defect(
        "id-token-of-a-refresh-for-the-api (CLAIM-10): The ID token from a refresh has the Resource "
        "indicator in its audience.",
        id_token_claims=id_token_of_a_refresh,
    ),
    defect(
        "refresh-token-of-a-refresh-is-a-jwt (CLAIM-12): The refresh token from a refresh is a JWT.",
        new_refresh_token=second_one_is_a_jwt,
    ),
)
