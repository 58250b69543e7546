"""Gateways that fail on some names of users."""

from __future__ import annotations

from collections.abc import Callable

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import sign_in
from gateproof.reference.gateway.policy.sign_in import IdTokenFacts
from gateproof.reference.gateway.records import Person

# The length of a usual database column for names.
LONGEST_NAME = 255


def failing_on(stored: Callable[[str], object]) -> Callable[[IdTokenFacts], Person | None]:
    """Signs users in, but raises what `stored` raises for the user's name."""

    def person_named(facts: IdTokenFacts) -> Person | None:
        stored(str(facts.claims.get("name", "")))
        return sign_in.person_named(facts)

    return person_named


def in_three_bytes(name: str) -> None:
    """Encodes a name in MySQL's `utf8`, which has at most three bytes for a character."""
    if any(ord(character) > 0xFFFF for character in name):
        raise ValueError("incorrect string value")


def in_a_column(name: str) -> None:
    if len(name) > LONGEST_NAME:
        raise ValueError("value too long")


DEFECTS = (
    defect(
        "names-in-latin-1 (ROBUST-01): A name of a user that Latin-1 does not have ends in a server error.",
        person_named=failing_on(lambda name: name.encode("latin-1")),
    ),
    defect(
        "names-in-three-bytes (ROBUST-01): A name of a user with an emoji ends in a server error.",
        person_named=failing_on(in_three_bytes),
    ),
    defect(
        "names-as-format-strings (ROBUST-01): A name of a user with a percent sign ends in a server error.",
        person_named=failing_on(lambda name: name % ()),
    ),
    defect(
        "names-in-a-short-column (ROBUST-01): A name of a user with over 255 characters ends in a server "
        "error.",
        person_named=failing_on(in_a_column),
    ),
)
