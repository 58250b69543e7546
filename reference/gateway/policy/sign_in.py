"""Sign-in: which browser a sign-in belongs to, and whom the merchant's ID token names."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Any

from gateproof.reference.gateway.records import MerchantPlace, Person, Resource, SignIn

LEEWAY_S = 60
SIGNED_IN_FOR_S = 900


@dataclass(frozen=True, kw_only=True, slots=True)
class IdTokenFacts:
    """The claims of an ID token that the merchant's keys verified, and what they are held against."""

    claims: dict[str, Any]
    merchant: MerchantPlace
    nonce: str
    now: float


def same_browser(sign_in: SignIn, browser: str | None) -> bool:
    """Forms and callbacks work in the browser that began the sign-in, and in no other."""
    return browser is not None and hmac.compare_digest(sign_in.browser.encode(), browser.encode())


def session_keys(before: str, new: str, signed_in: bool) -> tuple[str, ...]:  # noqa: ARG001 - wrong ones ask
    """Under which browser keys the user is signed in: the new one alone, so that no planted cookie is.

    `signed_in` says whether somebody was signed in under the key `before`.
    """
    return (new,)


def remembered(person: Person | None, now: float) -> Person | None:
    """A browser stays signed in for a quarter of an hour."""
    return person if person is not None and now < person.signed_in_at + SIGNED_IN_FOR_S else None


def person_named(facts: IdTokenFacts) -> Person | None:
    """The user, or None when the ID token is not meant for this sign-in."""
    claims = facts.claims
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    expires, login = claims.get("exp"), claims.get("sub")
    if (
        claims.get("iss") != facts.merchant.issuer
        or facts.merchant.client_id not in audiences
        or claims.get("nonce") != facts.nonce
        or isinstance(expires, bool)
        or not isinstance(expires, int | float)
        or expires + LEEWAY_S < facts.now
        or not isinstance(login, str)
        or not login
    ):
        return None
    name, email, amr = (claims.get(claim) for claim in ("preferred_username", "email", "amr"))
    return Person(
        login_id=login,
        preferred_username=name if isinstance(name, str) and name else login,
        email=email if isinstance(email, str) and email else None,
        amr=tuple(method for method in amr if isinstance(method, str)) if isinstance(amr, list) else (),
        signed_in_at=facts.now,
    )


def session_of(resource: Resource) -> str:
    """A user is signed in with a merchant: a session with one says nothing about another.

    The client ID is part of it, because a merchant may know the same user under another name elsewhere.
    """
    return f"{resource.merchant.issuer} {resource.merchant.client_id}"
