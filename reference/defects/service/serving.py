"""Services that refuse valid tokens, do not find new keys, or leave out orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.service.row import defect
from gateproof.reference.defects.service.users import by_user, until_it_expires
from gateproof.reference.service.policy import redemption, validation
from gateproof.reference.service.policy.answers import answer_of
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.policy.validation import CLAIM_CHECKS, ClaimFacts, Jwk, signed_claims
from gateproof.reference.service.settings import Settings
from gateproof.reference.service.wire import Answer, Outcome, Outgoing, Reply, as_json

# The service refuses tokens with any other claim.
KNOWN_CLAIMS = frozenset({"iss", "aud", "sub", "iat", "exp", "jti", "scope", "ext"})


def one_audience(facts: ClaimFacts) -> bool:
    return facts.claims.get("aud") in (facts.settings.indicator, [facts.settings.indicator])


def first_audience(facts: ClaimFacts) -> bool:
    return validation.audiences(facts)[:1] == [facts.settings.indicator]


def last_audience(facts: ClaimFacts) -> bool:
    return validation.audiences(facts)[-1:] == [facts.settings.indicator]


def own_url(facts: ClaimFacts) -> bool:
    return facts.settings.service_url in validation.audiences(facts)


def a_minute_left(facts: ClaimFacts) -> bool:
    expires = validation.expiry(facts)
    return expires is not None and facts.now + 60 < expires


def known_claims_alone(facts: ClaimFacts) -> bool:
    return facts.claims.keys() <= KNOWN_CLAIMS


def at_the_cores_address(facts: ClaimFacts) -> bool:
    core = urlsplit(facts.issuer)
    return facts.claims.get("iss") == f"{core.scheme}://{core.netloc}"


def first_key(_header: Mapping[str, Any], keys: Sequence[Jwk]) -> Sequence[Jwk]:
    return keys[:1]


def all_of_one_kind(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
    return signed_claims(token, keys) if all(key.get("kty") == "EC" for key in keys) else None


def one_kind_taken_for_granted(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
    algorithm = validation.header_of(token).get("alg", "none")
    if algorithm in validation.ALGORITHMS and algorithm != "ES256":
        raise ValueError(algorithm)
    return signed_claims(token, keys)


def unknown_for_good() -> Any:
    """A kid that is missing in two successive key sets stays unknown for ever."""
    sought: dict[Any, Sequence[Jwk]] = {}
    given_up: set[Any] = set()

    def claims_of(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
        kid = validation.header_of(token).get("kid")
        if kid not in {jwk.get("kid") for jwk in keys}:
            if sought.setdefault(kid, keys) is not keys:
                given_up.add(kid)
            return None
        return None if kid in given_up else signed_claims(token, keys)

    return claims_of


def hard_coded(_settings: Settings, document: Mapping[str, Any]) -> tuple[Any, ...]:
    return (f"{document['issuer']}/.well-known/jwks.json",)


def of_the_resource(settings: Settings, _document: Mapping[str, Any]) -> tuple[Any, ...]:
    return (f"{settings.authorization_server}/jwks",)


def first_order(facts: CallFacts, answer: Answer) -> list[Any] | None:
    orders = redemption.orders_in(facts, answer)
    return orders[:1] if orders else orders


def done(outcome: Outcome) -> Reply:
    return as_json(200, {"status": "ok"}) if outcome.kind == "served" else answer_of(outcome)


def not_found(outcome: Outcome) -> Reply:
    reply = answer_of(outcome)
    return as_json(404, {"orders": outcome.orders}) if outcome.kind == "served" else reply


def read_back_as_octets(facts: CallFacts) -> Outgoing:
    """A merchant token from the cache is sent as Python prints octets."""
    fresh = bool(facts.proxy_token)
    kept = replace(facts, merchant_token=repr(facts.merchant_token.encode()))
    return redemption.merchant_request(facts if fresh else kept)


def expiry_taken_for_granted(document: Mapping[str, Any], now: float) -> float:
    return until_it_expires({"expires_at": document["expires_at"]}, now)


def scopes_taken_for_granted(facts: CallFacts, answer: Answer) -> str | None:
    token = redemption.merchant_token_in(facts, answer)
    return token if token is None or len(answer.document["scopes"]) else None


def tracked_while_under_way() -> dict[str, Any]:
    """The tokens of redemptions under way are in a set; a second removal of the same token fails."""
    under_way: set[str] = set()

    def asked(facts: CallFacts) -> Outgoing:
        under_way.add(facts.token)
        return redemption.redemption_request(facts)

    def found(facts: CallFacts, answer: Answer) -> str | None:
        under_way.remove(facts.token)
        return redemption.merchant_token_in(facts, answer)

    return {"redemption_request": asked, "merchant_token_in": found}


def once_each() -> validation.ClaimCheck:
    """A jti is accepted once."""
    seen: set[str] = set()

    def check(facts: ClaimFacts) -> bool:
        jti = str(facts.claims.get("jti", ""))
        fresh = jti not in seen
        seen.add(jti)
        return fresh

    return check


def checked(honest: validation.ClaimCheck, wrong: validation.ClaimCheck) -> dict[str, Any]:
    return {"claim_checks": instead(CLAIM_CHECKS, honest, wrong)}


ISSUER, AUDIENCE, EXPIRY = CLAIM_CHECKS

DEFECTS = (
    defect("orders-left-out (SERVE-01): The operation answers ok without the orders.", answer_of=done),
    defect("first-order-alone (SERVE-01): The operation shows only the first order.", orders_in=first_order),
    defect(
        "orders-not-found (SERVE-01): The operation shows the orders with status 404.", answer_of=not_found
    ),
    defect(
        "one-audience-alone (SERVE-01): The service refuses a token that has a second audience in addition "
        "to the right one.",
        **checked(AUDIENCE, one_audience),
    ),
    defect(
        "first-audience-alone (SERVE-01): The service checks only the first audience of a token.",
        **checked(AUDIENCE, first_audience),
    ),
    defect(
        "last-audience-alone (SERVE-01): The service checks only the last audience of a token.",
        **checked(AUDIENCE, last_audience),
    ),
    defect(
        "calls-at-once-by-one-token-lost (SERVE-01): Of concurrent calls with one token, one is served, and "
        "the others end in 500.",
        **tracked_while_under_way(),
    ),
    defect(
        "unknown-claims-refused (SERVE-01): The service refuses a token with claims that it does not know.",
        claim_checks=(*CLAIM_CHECKS, known_claims_alone),
    ),
    defect(
        "a-minute-to-live (SERVE-01 CHAL-07): The service refuses a token that expires in less than a "
        "minute.",
        **checked(EXPIRY, a_minute_left),
    ),
    defect(
        "token-for-one-call (SERVE-01 BACK-06): The service refuses the second call with a token as a "
        "replay.",
        claim_checks=(*CLAIM_CHECKS, once_each()),
    ),
    defect(
        "merchant-token-read-back-as-octets (SERVE-01): The service caches merchant tokens, and sends a "
        "wrong value if it reads one from the cache.",
        cached_until=until_it_expires,
        merchant_request=read_back_as_octets,
    ),
    defect(
        "expires-at-taken-for-granted (SERVE-01 ROBUST-03): A redemption response without expires_at ends in "
        "500; one with it is cached for the user until then.",
        cache_key=by_user,
        cached_until=expiry_taken_for_granted,
    ),
    defect(
        "scopes-taken-for-granted (SERVE-01 ROBUST-03): A redemption response without scopes ends in 500; "
        "one with them is cached for the user until its expires_at.",
        cache_key=by_user,
        cached_until=until_it_expires,
        merchant_token_in=scopes_taken_for_granted,
    ),
    defect(
        "audience-is-the-service (SERVE-01 CHAL-06): The service accepts only tokens whose audience is its "
        "own URL, and no token has it.",
        **checked(AUDIENCE, own_url),
    ),
    defect(
        "issuer-from-configuration (SERVE-01 CHAL-05): The service expects the core's address as the issuer, "
        "not the issuer of the discovery document.",
        **checked(ISSUER, at_the_cores_address),
    ),
    defect(
        "keys-of-the-resource (SERVE-02 SERVE-01): The service verifies tokens with the Resource's keys, not "
        "the core's.",
        key_set_uris=of_the_resource,
    ),
    defect(
        "key-set-by-habit (SERVE-02 SERVE-01): The service fetches the key set from its usual address, not "
        "from jwks_uri of the discovery document.",
        key_set_uris=hard_coded,
    ),
    defect(
        "keys-for-ever (SERVE-02): The service fetches the keys once and never again.",
        keys_for_s=10**9,
        keys_again_after_s=10**9,
    ),
    defect(
        "keys-for-an-hour (SERVE-02): The service fetches the keys again only after an hour.",
        keys_again_after_s=3600,
        keys_for_s=3600,
    ),
    defect(
        "unknown-key-remembered (SERVE-02): The service never accepts a key that it has looked for once "
        "without success.",
        signed_claims=unknown_for_good(),
    ),
    defect(
        "first-key-alone (SERVE-02 BACK-06): The service uses only the first of several keys, whatever the "
        "token's kid is.",
        signed_claims=partial(signed_claims, chosen=first_key),
    ),
    defect(
        "key-of-another-kind-spoils-the-set (SERVE-02): The service ignores the whole key set if one of its "
        "keys is not an EC key.",
        signed_claims=all_of_one_kind,
    ),
    defect(
        "another-algorithm-breaks-it (SERVE-02 CHAL-04 ROBUST-01): A token with another algorithm than ES256 "
        "ends in 500.",
        signed_claims=one_kind_taken_for_granted,
    ),
)
