"""Gateways that believe what the merchant said of a user for another sign-in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

from gateproof.reference.defects.defect import instead, without
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import sign_in
from gateproof.reference.gateway.policy.sign_in import ID_TOKEN_CHECKS, IdTokenCheck, IdTokenFacts
from gateproof.reference.gateway.records import Person
from gateproof.reference.outcomes import JsonObject

Named = Callable[[IdTokenFacts], Person | None]


def _lacking(check: IdTokenCheck) -> Named:
    checks = without(ID_TOKEN_CHECKS, check)
    return lambda facts: sign_in.person_named(facts, checks)


def _with(honest: IdTokenCheck, wrong: IdTokenCheck) -> Named:
    checks = instead(ID_TOKEN_CHECKS, honest, wrong)
    return lambda facts: sign_in.person_named(facts, checks)


def same_host(facts: IdTokenFacts) -> bool:
    """Issuers with paths of their own can share a host."""
    return urlsplit(str(facts.claims.get("iss"))).netloc == urlsplit(facts.merchant.issuer).netloc


def some_of_its_text(facts: IdTokenFacts) -> bool:
    """Finds the client ID in a longer text as well as in a list."""
    return facts.merchant.client_id in facts.claims.get("aud", "")


def audience_that_is_a_list(facts: IdTokenFacts) -> bool:
    return isinstance(facts.claims.get("aud"), list) or sign_in.is_for_the_gateway(facts)


def nonce_where_there_is_one(facts: IdTokenFacts) -> bool:
    return "nonce" not in facts.claims or sign_in.is_for_this_sign_in(facts)


def nonce_that_is_there(facts: IdTokenFacts) -> bool:
    return bool(facts.claims.get("nonce"))


def expired_yesterday_at_most(facts: IdTokenFacts) -> bool:
    return sign_in.is_current(replace(facts, now=facts.now - 86_400))


def last_word(person: Person | None, told: JsonObject, now: float) -> Person | None:
    """Userinfo replaces the user of a valid ID token."""
    return person and (sign_in.person_of(told, now) or person)


def with_its_contact_data(person: Person | None, told: JsonObject, _now: float) -> Person | None:
    """Takes name and address from userinfo, and compares no sub."""
    if person is None:
        return None
    name, email = told.get("preferred_username"), told.get("email")
    return replace(person, preferred_username=str(name or person.preferred_username), email=str(email))


DEFECTS = (
    defect(
        "id-token-of-any-issuer (AUTHZ-28): The iss of the merchant's ID token is not looked at.",
        person_named=_lacking(sign_in.is_from_the_merchant),
    ),
    defect(
        "id-token-issuer-by-host (AUTHZ-28): Only the host of iss is compared.",
        person_named=_with(sign_in.is_from_the_merchant, same_host),
    ),
    defect(
        "id-token-of-any-audience (AUTHZ-28): The aud of the merchant's ID token is not looked at.",
        person_named=_lacking(sign_in.is_for_the_gateway),
    ),
    defect(
        "id-token-audience-as-part (AUTHZ-28): An aud that contains the client ID is taken for it.",
        person_named=_with(sign_in.is_for_the_gateway, some_of_its_text),
    ),
    defect(
        "id-token-audience-list-unread (AUTHZ-28): An aud that is a list is taken unread.",
        person_named=_with(sign_in.is_for_the_gateway, audience_that_is_a_list),
    ),
    defect(
        "id-token-with-any-nonce (AUTHZ-28): The nonce of the merchant's ID token is not compared.",
        person_named=_with(sign_in.is_for_this_sign_in, nonce_that_is_there),
    ),
    defect(
        "id-token-without-nonce (AUTHZ-28): The nonce is compared only where there is one.",
        person_named=_with(sign_in.is_for_this_sign_in, nonce_where_there_is_one),
    ),
    defect(
        "expired-id-token (AUTHZ-28): The exp of the merchant's ID token is not looked at.",
        person_named=_lacking(sign_in.is_current),
    ),
    defect(
        "id-token-of-yesterday (AUTHZ-28): An ID token is taken for a day after its exp.",
        person_named=_with(sign_in.is_current, expired_yesterday_at_most),
    ),
    defect(
        "userinfo-has-the-last-word (AUTHZ-28): Userinfo replaces the user of the ID token, whoever it is "
        "about.",
        named_by_userinfo=last_word,
    ),
    defect(
        "contact-data-of-anybody (AUTHZ-28): Name and address come from userinfo, whoever it is about.",
        named_by_userinfo=with_its_contact_data,
    ),
)
