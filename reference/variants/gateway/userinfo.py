"""Other legal ways to identify the user by the merchant's userinfo."""

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
        "userinfo-compared: the gateway requests userinfo, and refuses the sign-in if its `sub` differs",
        named_by_userinfo=_compared,
    ),
    variant(
        "userinfo-where-it-fits: the gateway requests userinfo, and ignores it if its `sub` differs",
        named_by_userinfo=_used_where_it_fits,
    ),
)
