"""Gateways whose tokens have wrong claims."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import jwt
from jwt.algorithms import get_default_algorithms

from gateproof.reference.defects.defect import without_members
from gateproof.reference.defects.gateway.forged_tokens import SIGNATURE_ONLY
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.keys import SigningKey
from gateproof.reference.gateway.policy.redemption import verified_claims
from gateproof.reference.gateway.policy.token_claims import (
    TokenFacts,
    Tokens,
    access_token_claims,
    id_token_claims,
    token_answer,
)
from gateproof.reference.ids import Ids
from gateproof.reference.outcomes import JsonObject

Known = Mapping[tuple[str, str], str]
# Redemption fails for a token without a usable `ext.project_id`, or under a `sub` that nothing is cached for.
REDEMPTIONS = "REDEEM-01 REDEEM-02 REDEEM-03 REDEEM-04 REDEEM-05 KEYS-04"


def with_claims(change: Callable[[TokenFacts], JsonObject]) -> Callable[[TokenFacts], JsonObject]:
    """The correct access token with some claims replaced."""
    return lambda facts: access_token_claims(facts) | change(facts)


def with_ext(change: Callable[[TokenFacts], JsonObject]) -> Callable[[TokenFacts], JsonObject]:
    """The correct access token with some members of `ext` replaced."""

    def wrong(facts: TokenFacts) -> JsonObject:
        claims = access_token_claims(facts)
        return claims | {"ext": claims["ext"] | change(facts)}

    return wrong


def not_extended(name: str) -> Callable[[TokenFacts], JsonObject]:
    def wrong(facts: TokenFacts) -> JsonObject:
        claims = access_token_claims(facts)
        return claims | {"ext": without_members(claims["ext"], name)}

    return wrong


def agent_claiming(change: Callable[[JsonObject], Any]) -> Callable[[TokenFacts], JsonObject]:
    """The correct access token with another `ext.agent`."""
    return with_ext(lambda facts: {"agent": change(access_token_claims(facts)["ext"]["agent"])})


def only_signature_verified(
    token: str, keys: Iterable[SigningKey], _issuer: str, _now: float
) -> Mapping[str, Any] | None:
    """Checks the signature only, so that the gateway accepts its own tokens despite a wrong claim."""
    for key in keys:
        try:
            claims: dict[str, Any] = jwt.decode(
                token, key.private.public_key(), algorithms=[key.algorithm], options=SIGNATURE_ONLY
            )
        except jwt.PyJWTError:
            continue
        return claims
    return None


def whatever_issuer(
    token: str, keys: Iterable[SigningKey], _issuer: str, now: float
) -> Mapping[str, Any] | None:
    """Checks everything except `iss`, so that the gateway accepts its own tokens."""
    claims = only_signature_verified(token, keys, "", now)
    return verified_claims(token, keys, claims["iss"], now) if claims else None


def audience_that_grows() -> Callable[[TokenFacts], JsonObject]:
    """Uses one list for all tokens, as with a mutable default argument."""
    audience: list[str] = []

    def wrong(facts: TokenFacts) -> JsonObject:
        if facts.resource.indicator not in audience:
            audience.append(facts.resource.indicator)
        return access_token_claims(facts) | {"aud": list(audience)}

    return wrong


def first_one(of: Callable[[TokenFacts], Any], name: str) -> Callable[[TokenFacts], JsonObject]:
    """Repeats the value of the first token in all tokens."""
    seen: list[Any] = []

    def wrong(facts: TokenFacts) -> JsonObject:
        seen.append(of(facts))
        return {name: seen[0]}

    return with_ext(wrong)


def normal_form(indicator: str) -> str:
    return indicator.lower().replace(":443/", "/").rstrip("/")


def sub_in_base64(_known: Known, _project_id: str, login: str, _ids: Ids) -> str:
    return "sub_" + base64.urlsafe_b64encode(login.encode()).decode().rstrip("=")


def access_token_twice(facts: TokenFacts, tokens: Tokens) -> JsonObject:
    return token_answer(facts, tokens) | {"id_token": tokens.access_token}


def id_token_for_the_resource_too(facts: TokenFacts) -> JsonObject:
    return id_token_claims(facts) | {"aud": [facts.agent.id, facts.resource.indicator]}


def with_padding(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """Builds the JWT with padded base64url, as the standard library encodes it, and signs that."""
    if answered.status != 200 or not asked.path.endswith("/oauth2/token") or b"id_token" not in answered.body:
        return answered
    tokens, key = json.loads(answered.body), gateway.store.core_keys.current
    parts = [part + "=" * (-len(part) % 4) for part in tokens["access_token"].split(".")[:2]]
    signed = ".".join(parts)
    signature = get_default_algorithms()[key.algorithm].sign(signed.encode(), key.private)
    tokens["access_token"] = f"{signed}.{base64.urlsafe_b64encode(signature).decode()}"
    return replace(answered, body=json.dumps(tokens).encode())


def jwt_refresh_token(facts: TokenFacts, ids: Ids) -> str:
    return jwt.encode({"sub": facts.grant.sub, "jti": facts.jti}, ids.secret(), "HS256")


def refresh_token_in_base64(facts: TokenFacts, ids: Ids) -> str:
    told = f"{facts.grant.person.login_id}:{ids.secret()}".encode()
    return base64.urlsafe_b64encode(told).decode()


DEFECTS = (
    defect(
        "iss-with-a-slash (CLAIM-01 REDEEM-01): `iss` has a trailing slash that the issuer of the discovery "
        "document does not have.",
        access_token_claims=with_claims(lambda facts: {"iss": facts.issuer + "/"}),
        verified_claims=whatever_issuer,
    ),
    defect(
        "iss-without-scheme (CLAIM-01 REDEEM-01): `iss` is the issuer's host without its scheme.",
        access_token_claims=with_claims(lambda facts: {"iss": facts.issuer.partition("://")[2]}),
        verified_claims=whatever_issuer,
    ),
    defect(
        "iss-per-resource (CLAIM-01 REDEEM-01): `iss` is the core issuer with the Resource ID appended.",
        access_token_claims=with_claims(lambda facts: {"iss": f"{facts.issuer}/{facts.resource.id}"}),
        verified_claims=whatever_issuer,
    ),
    defect(
        "aud-as-a-string (CLAIM-02): `aud` is a string.",
        access_token_claims=with_claims(lambda facts: {"aud": facts.resource.indicator}),
    ),
    defect(
        "aud-in-normal-form (CLAIM-02): `aud` contains the Resource indicator in normalized form.",
        access_token_claims=with_claims(lambda facts: {"aud": [normal_form(facts.resource.indicator)]}),
    ),
    defect(
        "aud-is-the-resource-id (CLAIM-02 CLAIM-10 REDEEM-01): `aud` contains the Resource ID instead of the "
        "Resource indicator.",
        access_token_claims=with_claims(lambda facts: {"aud": [facts.resource.id]}),
    ),
    defect(
        "aud-of-all-resources (CLAIM-02): `aud` contains the indicators of all Resources for which any token "
        "was issued.",
        access_token_claims=audience_that_grows(),
    ),
    defect(
        "sub-is-the-login (CLAIM-03): `sub` is the prefix and the user's login.",
        subject=lambda _known, _project_id, login, _ids: f"sub_{login}",
    ),
    defect(
        "sub-is-the-login-in-base64 (CLAIM-03): `sub` is the prefix and the user's login in base64.",
        subject=sub_in_base64,
    ),
    defect(
        "sub-without-prefix (CLAIM-03): `sub` has no prefix.",
        subject=lambda known, project_id, login, ids: known.get((project_id, login)) or ids.identifier(""),
    ),
    defect(
        "sub-new-every-time (CLAIM-03 ROBUST-04): `sub` changes at every sign-in.",
        subject=lambda _known, _project_id, _login, ids: ids.identifier("sub_"),
    ),
    defect(
        "sub-of-everybody (CLAIM-03 CLAIM-11): All users of a Project have the same `sub`.",
        subject=lambda _known, project_id, _login, _ids: f"sub_{project_id}",
    ),
    defect(
        "exp-as-a-string (CLAIM-04): `exp` is a string of digits.",
        access_token_claims=with_claims(lambda facts: {"exp": str(int(facts.now) + 3600)}),
        verified_claims=only_signature_verified,
    ),
    defect(
        "exp-is-a-duration (CLAIM-04 REDEEM-01): `exp` is the lifetime in seconds.",
        access_token_claims=with_claims(lambda _: {"exp": 3600}),
        verified_claims=only_signature_verified,
    ),
    defect(
        "exp-left-out (CLAIM-04 REDEEM-01): The access token has no `exp`.",
        access_token_claims=lambda facts: without_members(access_token_claims(facts), "exp"),
        verified_claims=only_signature_verified,
    ),
    defect(
        "acr-of-level-1 (CLAIM-05): `ext.acr` has assurance level 1.",
        access_token_claims=with_ext(lambda _: {"acr": "urn:gateway:acr:al1"}),
    ),
    defect(
        "acr-is-the-level-alone (CLAIM-05): `ext.acr` has no text before its level.",
        access_token_claims=with_ext(lambda _: {"acr": ":al2"}),
    ),
    defect(
        "acr-left-out (CLAIM-05): The access token has no `ext.acr`.", access_token_claims=not_extended("acr")
    ),
    defect(
        "amr-as-a-string (CLAIM-06): `ext.amr` is a string of methods.",
        access_token_claims=with_ext(lambda _: {"amr": "mfa kba"}),
    ),
    defect(
        "amr-of-objects (CLAIM-06): `ext.amr` is an array of objects.",
        access_token_claims=with_ext(lambda _: {"amr": [{"method": "mfa"}]}),
    ),
    defect(
        "amr-left-out (CLAIM-06): The access token has no `ext.amr`.", access_token_claims=not_extended("amr")
    ),
    defect(
        "agent-as-a-string (CLAIM-07): `ext.agent` is the client ID instead of an object.",
        access_token_claims=agent_claiming(lambda agent: agent["client_id"]),
    ),
    defect(
        "agent-without-client-id (CLAIM-07): `ext.agent` has no client ID.",
        access_token_claims=agent_claiming(lambda agent: without_members(agent, "client_id")),
    ),
    defect(
        "agent-without-verifications (CLAIM-07): `ext.agent` has no verifications.",
        access_token_claims=agent_claiming(lambda agent: without_members(agent, "verifications")),
    ),
    defect(
        "agent-is-the-first-one (CLAIM-07): `ext.agent` is always the agent of the first token that was "
        "issued.",
        access_token_claims=first_one(lambda facts: access_token_claims(facts)["ext"]["agent"], "agent"),
    ),
    defect(
        f"project-id-left-out (CLAIM-08 {REDEMPTIONS}): The access token has no `ext.project_id`.",
        access_token_claims=not_extended("project_id"),
    ),
    defect(
        f"project-id-is-the-resources (CLAIM-08 {REDEMPTIONS}): `ext.project_id` is the Resource ID.",
        access_token_claims=with_ext(lambda facts: {"project_id": facts.resource.id}),
    ),
    defect(
        f"project-id-is-the-first-one (CLAIM-08 {REDEMPTIONS} REDEEM-10): `ext.project_id` is always "
        f"the Project of the first token that was issued.",
        access_token_claims=first_one(lambda facts: facts.resource.project_id, "project_id"),
    ),
    defect(
        "id-token-is-the-access-token (CLAIM-09 CLAIM-10 CLAIM-11 REDEEM-07): The token response has the "
        "access token as the ID token too.",
        token_answer=access_token_twice,
    ),
    defect(
        "id-token-has-the-same-claims (CLAIM-09 CLAIM-10 CLAIM-11): The ID token has the claims of the "
        "access token.",
        id_token_claims=access_token_claims,
    ),
    defect(
        "id-token-for-the-api (CLAIM-10): The audience of the ID token contains the Resource indicator.",
        id_token_claims=id_token_for_the_resource_too,
    ),
    defect(
        "id-token-for-nobody-else (CLAIM-10 CLAIM-11): The audience of the ID token is the Resource "
        "indicator alone.",
        id_token_claims=lambda facts: id_token_claims(facts) | {"aud": facts.resource.indicator},
    ),
    defect(
        "id-token-under-the-resources-key (CLAIM-11): The ID token is signed with the Resource's own key.",
        id_token_key=lambda _core, own: own,
    ),
    defect(
        "id-token-for-the-issuer (CLAIM-11): The audience of the ID token is the gateway itself.",
        id_token_claims=lambda facts: id_token_claims(facts) | {"aud": facts.issuer},
    ),
    defect(
        "jwt-with-padding (CODE-01 REDEEM-01): The parts of an access token are base64url with padding.",
        around=altering_answers(with_padding),
    ),
    defect(
        "refresh-token-is-a-jwt (CLAIM-12): The refresh token is a JWT.",
        new_refresh_token=jwt_refresh_token,
    ),
    defect(
        "refresh-token-with-the-login (CLAIM-12): The refresh token begins with the user's login.",
        new_refresh_token=lambda facts, ids: f"{facts.grant.person.login_id}:{ids.secret()}",
    ),
    defect(
        "refresh-token-with-the-login-in-base64 (CLAIM-12): The refresh token is the base64 form of the "
        "user's login and a secret.",
        new_refresh_token=refresh_token_in_base64,
    ),
)
