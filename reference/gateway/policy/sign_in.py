"""Sign-in: the browser session, and the validation of the merchant's ID token."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gateproof.reference.gateway.policy.authorization import AuthorizationFacts
from gateproof.reference.gateway.policy.vault import MerchantAnswer
from gateproof.reference.gateway.records import MerchantPlace, Person, Resource, SignIn
from gateproof.reference.gateway.store import Store
from gateproof.reference.ids import fingerprint

LEEWAY_S = 60
SIGNED_IN_FOR_S = 900


@dataclass(frozen=True, kw_only=True, slots=True)
class IdTokenFacts:
    """The claims of an ID token with a valid signature, and the expected values."""

    claims: dict[str, Any]
    merchant: MerchantPlace
    nonce: str
    now: float


IdTokenCheck = Callable[[IdTokenFacts], bool]


@dataclass(frozen=True, kw_only=True, slots=True)
class UnfinishedFacts:
    """A sign-in that gave no user: the error in the callback, or the answer to the merchant's code.

    `known` are users who have approved an agent in the Project before.
    """

    error: str
    answer: MerchantAnswer | None
    known: tuple[str, ...]
    now: float


def answering(resource: Resource, issuer: str, _others: Iterable[Resource]) -> MerchantPlace | None:
    """The merchant whose answer a callback is; None if the answer names another issuer (RFC 9207)."""
    return resource.merchant if issuer in ("", resource.merchant.issuer) else None


def key_set_uri(merchant: MerchantPlace, _kid: object) -> str:
    """The merchant's own key set: another merchant may give its keys the same key IDs."""
    return merchant.jwks_uri


def no_user(_facts: UnfinishedFacts) -> Person | None:
    """Nobody is signed in if the merchant has not signed in a user."""
    return None


# Parameters that connect the merchant's code with the sign-in for which it was issued.
CODE_BINDINGS = frozenset({"nonce", "code_challenge"})


def by_state(_store: Store, states: tuple[str, ...], _browser: str | None) -> str:
    """The key of the sign-in to which a callback belongs: the one whose `state` it returns."""
    return fingerprint(states[0]) if len(states) == 1 else ""


def resource_of_the_page(page: Resource, begun: Resource, _signed_in: bool) -> Resource | None:
    """The Resource for which a callback or form is taken: the one of its address, for which it was begun."""
    return begun if page.id == begun.id else None


def same_browser(sign_in: SignIn, browser: str | None) -> bool:
    """Forms and callbacks work only in the browser that started the sign-in."""
    return browser is not None and hmac.compare_digest(sign_in.browser.encode(), browser.encode())


def session_keys(before: str, new: str, signed_in: bool) -> tuple[str, ...]:  # noqa: ARG001 - wrong ones ask
    """Signs the user in under the new browser key only, not under one that an attacker may have set.

    `signed_in` says whether somebody was signed in under the key `before`.
    """
    return (new,)


def remembered(person: Person | None, now: float) -> Person | None:
    """A browser stays signed in for 15 minutes."""
    return person if person is not None and now < person.signed_in_at + SIGNED_IN_FOR_S else None


def known_user(_store: Store, _facts: AuthorizationFacts, person: Person | None) -> Person | None:
    """The user whom the browser remembers; hints in the request are ignored."""
    return person


def signed_in_as(_before: Person | None, person: Person) -> Person:
    """The user whom the merchant has just signed in, whoever was signed in before."""
    return person


def sign_in_decided(_store: Store, sign_in: SignIn) -> SignIn | None:
    """The sign-in of the ticket, even if the browser has opened another page since."""
    return sign_in


def is_from_the_merchant(facts: IdTokenFacts) -> bool:
    return bool(facts.claims.get("iss") == facts.merchant.issuer)


def is_for_the_gateway(facts: IdTokenFacts) -> bool:
    audience = facts.claims.get("aud")
    return facts.merchant.client_id in (audience if isinstance(audience, list) else [audience])


def is_for_this_sign_in(facts: IdTokenFacts) -> bool:
    """The nonce is that of the request, if the request had one."""
    return not facts.nonce or bool(facts.claims.get("nonce") == facts.nonce)


def is_current(facts: IdTokenFacts) -> bool:
    expires = facts.claims.get("exp")
    if isinstance(expires, bool) or not isinstance(expires, int | float):
        return False
    return expires + LEEWAY_S >= facts.now


ID_TOKEN_CHECKS: tuple[IdTokenCheck, ...] = (
    is_from_the_merchant,
    is_for_the_gateway,
    is_for_this_sign_in,
    is_current,
)


def person_named(facts: IdTokenFacts, checks: tuple[IdTokenCheck, ...] = ID_TOKEN_CHECKS) -> Person | None:
    """The user; None if the ID token is not valid for this sign-in."""
    return person_of(facts.claims, facts.now) if all(check(facts) for check in checks) else None


def person_of(claims: Mapping[str, Any], now: float) -> Person | None:
    """The user that the claims of an ID token or userinfo name; None without a sub."""
    login = claims.get("sub")
    if not isinstance(login, str) or not login:
        return None
    name, email, amr = (claims.get(claim) for claim in ("preferred_username", "email", "amr"))
    return Person(
        login_id=login,
        preferred_username=name if isinstance(name, str) and name else login,
        email=email if isinstance(email, str) and email else None,
        amr=tuple(method for method in amr if isinstance(method, str)) if isinstance(amr, list) else (),
        signed_in_at=now,
    )


def session_of(resource: Resource) -> str:
    """Sessions are separate for each merchant.

    The client ID is part of the key, because a merchant may use another subject for the same user there.
    """
    return f"{resource.merchant.issuer} {resource.merchant.client_id}"
