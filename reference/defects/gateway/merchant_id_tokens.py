"""Gateways that do not validate the merchant's ID token or userinfo completely."""

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


def _without_check(check: IdTokenCheck) -> Named:
    checks = without(ID_TOKEN_CHECKS, check)
    return lambda facts: sign_in.person_named(facts, checks)


def _with_check(honest: IdTokenCheck, wrong: IdTokenCheck) -> Named:
    checks = instead(ID_TOKEN_CHECKS, honest, wrong)
    return lambda facts: sign_in.person_named(facts, checks)


def same_host(facts: IdTokenFacts) -> bool:
    """Compares hosts only; issuers with different paths can share a host."""
    return urlsplit(str(facts.claims.get("iss"))).netloc == urlsplit(facts.merchant.issuer).netloc


def client_id_in_aud(facts: IdTokenFacts) -> bool:
    """Finds the client ID as a substring of a text as well as in a list."""
    return facts.merchant.client_id in facts.claims.get("aud", "")


def audience_that_is_a_list(facts: IdTokenFacts) -> bool:
    return isinstance(facts.claims.get("aud"), list) or sign_in.is_for_the_gateway(facts)


def nonce_where_there_is_one(facts: IdTokenFacts) -> bool:
    return "nonce" not in facts.claims or sign_in.is_for_this_sign_in(facts)


def nonces_of_any_sign_in() -> IdTokenCheck:
    """Compares the nonce with all that the gateway has sent so far, and forgets none."""
    sent: set[str] = set()

    def check(facts: IdTokenFacts) -> bool:
        sent.add(facts.nonce)
        return not facts.nonce or facts.claims.get("nonce") in sent

    return check


def clients_of_any_resource() -> IdTokenCheck:
    """Accepts in aud any client ID that the gateway has at this merchant."""
    own: dict[str, set[str]] = {}

    def check(facts: IdTokenFacts) -> bool:
        known = own.setdefault(facts.merchant.issuer, set())
        known.add(facts.merchant.client_id)
        audience = facts.claims.get("aud")
        return bool(known & set(audience if isinstance(audience, list) else [audience]))

    return check


def nonce_that_is_there(facts: IdTokenFacts) -> bool:
    return bool(facts.claims.get("nonce"))


def expired_yesterday_at_most(facts: IdTokenFacts) -> bool:
    return sign_in.is_current(replace(facts, now=facts.now - 86_400))


def replaced_by_userinfo(person: Person | None, told: JsonObject, now: float) -> Person | None:
    """Replaces the user of a valid ID token by that of userinfo."""
    return person and (sign_in.person_of(told, now) or person)


def with_its_contact_data(person: Person | None, told: JsonObject, _now: float) -> Person | None:
    """Uses name and email of userinfo without comparing sub."""
    if person is None:
        return None
    name, email = told.get("preferred_username"), told.get("email")
    return replace(person, preferred_username=str(name or person.preferred_username), email=str(email))


DEFECTS = (
    defect(
        "id-token-of-any-issuer (AUTHZ-28): The gateway does not check the iss of the merchant's ID token.",
        person_named=_without_check(sign_in.is_from_the_merchant),
    ),
    defect(
        "id-token-issuer-by-host (AUTHZ-28): The gateway compares only the host of the iss of the merchant's "
        "ID token.",
        person_named=_with_check(sign_in.is_from_the_merchant, same_host),
    ),
    defect(
        "id-token-of-any-audience (AUTHZ-28): The gateway does not check the aud of the merchant's ID token.",
        person_named=_without_check(sign_in.is_for_the_gateway),
    ),
    defect(
        "id-token-audience-as-part (AUTHZ-28): The gateway accepts an aud that contains the client ID as a "
        "substring.",
        person_named=_with_check(sign_in.is_for_the_gateway, client_id_in_aud),
    ),
    defect(
        "id-token-audience-list-unread (AUTHZ-28): The gateway accepts any aud that is a list, without "
        "reading its members.",
        person_named=_with_check(sign_in.is_for_the_gateway, audience_that_is_a_list),
    ),
    defect(
        "id-token-with-any-nonce (AUTHZ-28): The gateway accepts any nonce in the merchant's ID token.",
        person_named=_with_check(sign_in.is_for_this_sign_in, nonce_that_is_there),
    ),
    defect(
        "id-token-without-nonce (AUTHZ-28): The gateway compares the nonce only if the ID token has one.",
        person_named=_with_check(sign_in.is_for_this_sign_in, nonce_where_there_is_one),
    ),
    defect(
        "id-token-with-an-earlier-nonce (AUTHZ-28): The gateway accepts the nonce of any earlier sign-in in "
        "the merchant's ID token.",
        person_named=_with_check(sign_in.is_for_this_sign_in, nonces_of_any_sign_in()),
    ),
    defect(
        "id-token-for-a-sibling (AUTHZ-28): The gateway accepts an ID token for its client of another "
        "Resource at the same merchant.",
        person_named=_with_check(sign_in.is_for_the_gateway, clients_of_any_resource()),
    ),
    defect(
        "expired-id-token (AUTHZ-28): The gateway does not check the exp of the merchant's ID token.",
        person_named=_without_check(sign_in.is_current),
    ),
    defect(
        "id-token-of-yesterday (AUTHZ-28): The gateway accepts an ID token until a day after its exp.",
        person_named=_with_check(sign_in.is_current, expired_yesterday_at_most),
    ),
    defect(
        "userinfo-has-the-last-word (AUTHZ-28): Userinfo replaces the user of the ID token, even if it is "
        "about another user.",
        named_by_userinfo=replaced_by_userinfo,
    ),
    defect(
        "contact-data-of-anybody (AUTHZ-28): Name and email come from userinfo, even if it is about another "
        "user.",
        named_by_userinfo=with_its_contact_data,
    ),
)
