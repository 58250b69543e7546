"""Services that do not serve what they should: good tokens refused, new keys not found, orders left out."""

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

# A service that accepts no token at all breaks what every other rule stands on.
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


def whole_seconds(facts: ClaimFacts) -> bool:
    """`long exp = claims.getLong("exp")`."""
    return isinstance(validation.expiry(facts), int) and validation.not_expired(facts)


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
    """What is in no key set, and not in the next one either, is not looked for any more."""
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
    """A merchant token that was kept comes out of its store as what Python prints for octets."""
    fresh = bool(facts.proxy_token)
    kept = replace(facts, merchant_token=repr(facts.merchant_token.encode()))
    return redemption.merchant_request(facts if fresh else kept)


def expiry_taken_for_granted(document: Mapping[str, Any], now: float) -> float:
    return until_it_expires({"expires_at": document["expires_at"]}, now)


def scopes_taken_for_granted(facts: CallFacts, answer: Answer) -> str | None:
    token = redemption.merchant_token_in(facts, answer)
    return token if token is None or len(answer.document["scopes"]) else None


def noted_while_under_way() -> dict[str, Any]:
    """A redemption under way is noted by its token, and the note is torn up by whoever has the answer."""
    under_way: set[str] = set()

    def asked(facts: CallFacts) -> Outgoing:
        under_way.add(facts.token)
        return redemption.redemption_request(facts)

    def found(facts: CallFacts, answer: Answer) -> str | None:
        under_way.remove(facts.token)
        return redemption.merchant_token_in(facts, answer)

    return {"redemption_request": asked, "merchant_token_in": found}


def once_each() -> validation.ClaimCheck:
    """The jti of a token is for one call."""
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
    defect("orders-left-out (SERVE-01): The operation says ok and shows no orders.", answer_of=done),
    defect("first-order-alone (SERVE-01): The operation shows the first order alone.", orders_in=first_order),
    defect(
        "orders-not-found (SERVE-01): The operation shows the orders with status 404.", answer_of=not_found
    ),
    defect(
        "one-audience-alone (SERVE-01): A token for a second audience beside the right one is refused.",
        **checked(AUDIENCE, one_audience),
    ),
    defect(
        "first-audience-alone (SERVE-01): Only the first audience of a token is looked at.",
        **checked(AUDIENCE, first_audience),
    ),
    defect(
        "last-audience-alone (SERVE-01): Only the last audience of a token is looked at.",
        **checked(AUDIENCE, last_audience),
    ),
    defect(
        "calls-at-once-by-one-token-lost (SERVE-01): Of calls that are made at once with one token, one is "
        "served, and the others end in 500.",
        **noted_while_under_way(),
    ),
    defect(
        "unknown-claims-refused (SERVE-01): A token with claims that the service does not know is refused.",
        claim_checks=(*CLAIM_CHECKS, known_claims_alone),
    ),
    defect(
        "a-minute-to-live (SERVE-01 CHAL-07): A token that has less than a minute to live is refused.",
        **checked(EXPIRY, a_minute_left),
    ),
    defect(
        "expiry-in-whole-seconds-alone (SERVE-01): A token whose expiry has a fraction is refused.",
        **checked(EXPIRY, whole_seconds),
    ),
    defect(
        "token-for-one-call (SERVE-01 BACK-06): A token that has been served once is taken for a replay the "
        "next time.",
        claim_checks=(*CLAIM_CHECKS, once_each()),
    ),
    defect(
        "merchant-token-read-back-as-octets (SERVE-01): The merchant token that is kept for a gateway "
        "access token is not the one that was put there.",
        kept_until=until_it_expires,
        merchant_request=read_back_as_octets,
    ),
    defect(
        "expires-at-taken-for-granted (SERVE-01 ROBUST-03): A redemption without expires_at ends in 500; "
        "one with it does for all calls of the user until then.",
        kept_under=by_user,
        kept_until=expiry_taken_for_granted,
    ),
    defect(
        "scopes-taken-for-granted (SERVE-01 ROBUST-03): A redemption without scopes ends in 500; one with "
        "them does for all calls of the user for a while.",
        kept_under=by_user,
        kept_until=until_it_expires,
        merchant_token_in=scopes_taken_for_granted,
    ),
    defect(
        "audience-is-the-service (SERVE-01 CHAL-06): Only tokens for the service's own URL are taken, and "
        "there are none.",
        **checked(AUDIENCE, own_url),
    ),
    defect(
        "issuer-from-configuration (SERVE-01 CHAL-05): The core's address is taken for the issuer, and not "
        "what discovery says.",
        **checked(ISSUER, at_the_cores_address),
    ),
    defect(
        "keys-of-the-resource (SERVE-02 SERVE-01): The keys of the Resource take the place of the core's.",
        key_set_uris=of_the_resource,
    ),
    defect(
        "key-set-by-habit (SERVE-02 SERVE-01): The key set is looked for at its usual address, and not "
        "where discovery says.",
        key_set_uris=hard_coded,
    ),
    defect(
        "keys-for-ever (SERVE-02): The keys of the first day are the keys of every day.",
        keys_for_s=10**9,
        keys_again_after_s=10**9,
    ),
    defect(
        "keys-for-an-hour (SERVE-02): A key that is new is found an hour later.",
        keys_again_after_s=3600,
        keys_for_s=3600,
    ),
    defect(
        "unknown-key-remembered (SERVE-02): A key that was looked for once in vain is unknown for ever.",
        signed_claims=unknown_for_good(),
    ),
    defect(
        "first-key-alone (SERVE-02 BACK-06): Of several keys the first is tried, whatever a token's kid "
        "says.",
        signed_claims=partial(signed_claims, chosen=first_key),
    ),
    defect(
        "key-of-another-kind-spoils-the-set (SERVE-02): A key set that has a key of another kind in it is "
        "thrown away as a whole.",
        signed_claims=all_of_one_kind,
    ),
    defect(
        "another-algorithm-breaks-it (SERVE-02 CHAL-04 ROBUST-01): A token of another algorithm than the "
        "one that was expected ends in 500.",
        signed_claims=one_kind_taken_for_granted,
    ),
)
