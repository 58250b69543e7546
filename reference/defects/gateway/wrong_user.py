"""Gateways that take one user, one tab or one answer for another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import authorization
from gateproof.reference.gateway.policy import sign_in as honest
from gateproof.reference.gateway.policy.authorization import AuthorizationFacts, ConsentFacts
from gateproof.reference.gateway.records import Person, SignIn, Standing
from gateproof.reference.gateway.store import Store


def latest_of_the_browser(store: Store, sign_in: SignIn) -> SignIn:
    """The request that the browser was asked about last, as a session keeps it."""
    asked = [each for each in store.sign_ins.values() if each.browser == sign_in.browser and each.person]
    return asked[-1] if asked else sign_in


def latest_behind_its_own_state(store: Store, sign_in: SignIn) -> SignIn:
    """The form carries redirect URI and state, and the session the rest."""
    latest = latest_of_the_browser(store, sign_in)
    own = sign_in.request
    return replace(latest, request=replace(latest.request, state=own.state, redirect_uri=own.redirect_uri))


def way_back_in_any_browser(sign_in: SignIn, browser: str | None) -> bool:
    """Only decisions are compared with the browser; a way back needs some cookie."""
    return browser is not None if sign_in.person is None else honest.same_browser(sign_in, browser)


def user_of_before(before: Person | None, person: Person) -> Person:
    """A session that has a user keeps it."""
    return person if before is None else replace(before, signed_in_at=person.signed_in_at)


def asked_to_sign_in(_store: Store, facts: AuthorizationFacts, person: Person | None) -> Person | None:
    return None if facts.value("prompt") == "login" else person


def known_by_hint(store: Store, facts: AuthorizationFacts, person: Person | None) -> Person | None:
    """Whom the agent names, if that user has approved it before."""
    login = facts.value("login_hint")
    known = [each for each in store.grants.values() if facts.agent and each.agent_id == facts.agent.id]
    return person or next((each.person for each in known if each.person.login_id == login), None)


def after_a_sign_in(answered: Callable[[ConsentFacts], bool]) -> dict[str, Any]:
    """Who has just signed in is not asked about agents of which there is an answer."""

    def consent(facts: ConsentFacts) -> Standing | None:
        known = facts.standing == "approved" and not facts.was_signed_in and answered(facts)
        return "approved" if known else authorization.consent(facts)

    return {"consent": consent}


def approved_where_hinted(facts: ConsentFacts) -> Standing | None:
    known = facts.standing == "approved" and facts.answers.get(facts.login_id) == "approve"
    return "approved" if known else authorization.consent(facts)


DEFECTS = (
    defect(
        "decision-about-the-latest-tab (AUTHZ-17): A decision is about the request that the browser opened "
        "last, and not about that of the page.",
        decided_on=latest_of_the_browser,
    ),
    defect(
        "decision-about-the-latest-tab-by-its-state (AUTHZ-17): The same, and the code comes with the state "
        "of the page.",
        decided_on=latest_behind_its_own_state,
    ),
    defect(
        "way-back-in-any-known-browser (AUTHZ-19): The way back from the merchant works in every browser "
        "that has a cookie of the gateway.",
        same_browser=way_back_in_any_browser,
    ),
    defect(
        "session-keeps-its-first-user (AUTHZ-20): Who signs in in a browser in which somebody was signed in "
        "before goes on as that user.",
        signed_in_as=user_of_before,
    ),
    defect(
        "user-stays-after-prompt-login (AUTHZ-20): A request with prompt=login asks for a sign-in, after "
        "which the user of before is signed in.",
        known_user=asked_to_sign_in,
        signed_in_as=user_of_before,
    ),
    defect(
        "signed-in-by-a-hint (AUTHZ-20): A login_hint signs in a user who has approved the agent before.",
        known_user=known_by_hint,
        consent=approved_where_hinted,
    ),
    defect(
        "declined-counts-after-a-sign-in (AUTHZ-17): An agent that the user has declined is not asked about "
        "again when that user signs in.",
        **after_a_sign_in(lambda facts: facts.answers.get(facts.login_id) == "deny"),
    ),
    defect(
        "anothers-approval-counts-after-a-sign-in (AUTHZ-17): A user who signs in is not asked about an "
        "agent that another user has approved.",
        **after_a_sign_in(lambda facts: facts.login_id not in facts.answers and bool(facts.answers)),
    ),
)
