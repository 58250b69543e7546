"""Other legal ways to learn from the merchant who signed in."""

from __future__ import annotations

from gateproof.reference.gateway.policy import sign_in
from gateproof.reference.gateway.records import Person
from gateproof.reference.outcomes import JsonObject
from gateproof.reference.variants.variant import variant


def _compared(person: Person | None, told: JsonObject, now: float) -> Person | None:
    same = person is not None and told.get("sub") == person.login_id
    return sign_in.person_of(told, now) if same else None


def _used_where_it_fits(person: Person | None, told: JsonObject, now: float) -> Person | None:
    return _compared(person, told, now) or person


VARIANTS = (
    variant(
        "userinfo-compared: userinfo is asked for, and nobody is signed in whose sub differs there",
        named_by_userinfo=_compared,
    ),
    variant(
        "userinfo-where-it-fits: userinfo with another sub is not used, and the sign-in goes on",
        named_by_userinfo=_used_where_it_fits,
    ),
)
