"""Gateways that sign a user in although the merchant's identity provider did not finish the sign-in."""

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
    """The last user who has approved an agent in the Project."""
    return lambda facts: _named(facts.known[-1], facts.now) if facts.known and when(facts) else None


DEFECTS = (
    defect(
        "provider-error-overlooked (AUTHZ-20): If the identity provider redirects with an error, the "
        "gateway signs in a user without a name.",
        unfinished=guest(lambda facts: bool(facts.error)),
    ),
    defect(
        "access-denied-alone-understood (AUTHZ-20): If the identity provider redirects with an error except "
        "access_denied, the gateway signs in a user without a name.",
        unfinished=guest(lambda facts: facts.error not in {"", "access_denied"}),
    ),
    defect(
        "refused-code-signs-in (AUTHZ-20): The gateway ignores whether the identity provider accepts the "
        "code, and signs in a user without a name.",
        unfinished=guest(lambda facts: _status(facts) is not None),
    ),
    defect(
        "any-answer-with-200-signs-in (AUTHZ-20): If the identity provider answers 200 without a token, the "
        "gateway signs in a user without a name.",
        unfinished=guest(lambda facts: _status(facts) == 200),
    ),
    defect(
        "failing-provider-replaced-by-memory (AUTHZ-20): If the identity provider fails, the gateway signs "
        "in the last known user.",
        unfinished=last_known(lambda facts: facts.answer is not None and (_status(facts) or 500) >= 500),
    ),
    defect(
        "silent-provider-replaced-by-memory (AUTHZ-20): If the identity provider does not answer in time, "
        "the gateway signs in the last known user.",
        unfinished=last_known(lambda facts: facts.answer is not None and facts.answer.trouble == "late"),
    ),
)
