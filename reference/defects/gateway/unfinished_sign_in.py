"""Gateways that sign somebody in although the merchant's identity provider did not finish the sign-in."""

from __future__ import annotations

from collections.abc import Callable

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy.sign_in import UnfinishedFacts
from gateproof.reference.gateway.records import Person

When = Callable[[UnfinishedFacts], bool]


def _status(facts: UnfinishedFacts) -> int | None:
    return facts.answer.status if facts.answer is not None else None


def _named(login: str, now: float) -> Person:
    return Person(login_id=login, preferred_username=login, email=None, amr=(), signed_in_at=now)


def guest(when: When) -> Callable[[UnfinishedFacts], Person | None]:
    """A user without a name."""
    return lambda facts: _named("undefined", facts.now) if when(facts) else None


def last_known(when: When) -> Callable[[UnfinishedFacts], Person | None]:
    """The user who was there last."""
    return lambda facts: _named(facts.known[-1], facts.now) if facts.known and when(facts) else None


DEFECTS = (
    defect(
        "provider-error-overlooked (AUTHZ-20): An error in the provider's redirect ends in a code all the "
        "same, for a user without a name.",
        unfinished=guest(lambda facts: bool(facts.error)),
    ),
    defect(
        "access-denied-alone-understood (AUTHZ-20): Of the provider's errors, only access_denied ends a "
        "sign-in.",
        unfinished=guest(lambda facts: facts.error not in {"", "access_denied"}),
    ),
    defect(
        "refused-code-signs-in (AUTHZ-20): Whether the provider took the code is not looked at.",
        unfinished=guest(lambda facts: _status(facts) is not None),
    ),
    defect(
        "any-answer-with-200-signs-in (AUTHZ-20): An answer with the status 200 and no token in it signs a "
        "user without a name in.",
        unfinished=guest(lambda facts: _status(facts) == 200),
    ),
    defect(
        "failing-provider-replaced-by-memory (AUTHZ-20): While the provider fails, the user who was there "
        "last is signed in.",
        unfinished=last_known(lambda facts: facts.answer is not None and (_status(facts) or 500) >= 500),
    ),
)
