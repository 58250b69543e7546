"""Gateways that confuse users, browser tabs or decisions."""

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
    """The last request of the browser for which it showed an approve page, as a session stores it."""
    asked = [each for each in store.sign_ins.values() if each.browser == sign_in.browser and each.person]
    return asked[-1] if asked else sign_in


def latest_behind_its_own_state(store: Store, sign_in: SignIn) -> SignIn:
    """Takes redirect URI and state from the form, and the rest from the session."""
    latest = latest_of_the_browser(store, sign_in)
    own = sign_in.request
    return replace(latest, request=replace(latest.request, state=own.state, redirect_uri=own.redirect_uri))


def latest_with_its_state(store: Store, sign_in: SignIn) -> SignIn:
    """The requests are stored by their `state`: a later one with the same state replaces an earlier one."""
    same = [each for each in store.sign_ins.values() if each.request.state == sign_in.request.state]
    return replace(sign_in, request=same[-1].request) if same else sign_in


def resource_of_the_latest(store: Store, sign_in: SignIn) -> SignIn:
    """The Resource is stored in the session by agent, and everything else in the form."""
    latest = latest_of_the_browser(store, sign_in)
    same_agent = latest.request.client_id == sign_in.request.client_id
    return replace(sign_in, resource_id=latest.resource_id) if same_agent else sign_in


def way_back_in_any_browser(sign_in: SignIn, browser: str | None) -> bool:
    """Compares the browser only for decisions; a callback only needs any cookie."""
    return browser is not None if sign_in.person is None else honest.same_browser(sign_in, browser)


def user_of_before(before: Person | None, person: Person) -> Person:
    """A session with a user keeps this user."""
    return person if before is None else replace(before, signed_in_at=person.signed_in_at)


def asked_to_sign_in(_store: Store, facts: AuthorizationFacts, person: Person | None) -> Person | None:
    return None if facts.value("prompt") == "login" else person


def known_by_hint(store: Store, facts: AuthorizationFacts, person: Person | None) -> Person | None:
    """The user in the login_hint, if this user has approved the agent before."""
    login = facts.value("login_hint")
    known = [each for each in store.grants.values() if facts.agent and each.agent_id == facts.agent.id]
    return person or next((each.person for each in known if each.person.login_id == login), None)


def after_a_sign_in(answered: Callable[[ConsentFacts], bool]) -> dict[str, Any]:
    """After a new sign-in, approves without asking if `answered` is true and the agent is not Pending."""

    def consent(facts: ConsentFacts) -> Standing | None:
        known = facts.standing == "approved" and not facts.was_signed_in and answered(facts)
        return "approved" if known else authorization.consent(facts)

    return {"consent": consent}


def approved_where_hinted(facts: ConsentFacts) -> Standing | None:
    known = facts.standing == "approved" and facts.answers.get(facts.login_id) == "approve"
    return "approved" if known else authorization.consent(facts)


DEFECTS = (
    defect(
        "decision-about-the-latest-tab (AUTHZ-17): A decision applies to the request that the browser "
        "opened last, not to that of the page.",
        sign_in_decided=latest_of_the_browser,
    ),
    defect(
        "requests-stored-by-state (AUTHZ-17): A decision applies to the last request with the same state, "
        "also to one that another browser opened.",
        sign_in_decided=latest_with_its_state,
    ),
    defect(
        "decision-about-the-latest-tab-by-its-state (AUTHZ-17): A decision applies to the request that the "
        "browser opened last, but the redirect has the state of the page.",
        sign_in_decided=latest_behind_its_own_state,
    ),
    defect(
        "resource-of-the-latest-tab (CLAIM-02): A decision applies to the Resource of the agent's request "
        "that the browser opened last, and otherwise to the request of the page.",
        sign_in_decided=resource_of_the_latest,
    ),
    defect(
        "way-back-in-any-known-browser (AUTHZ-19): The callback from the merchant works in every browser "
        "that has a cookie of the gateway.",
        same_browser=way_back_in_any_browser,
    ),
    defect(
        "session-keeps-its-first-user (AUTHZ-20): After a new sign-in in a browser with a signed-in user, "
        "the old user stays signed in.",
        signed_in_as=user_of_before,
    ),
    defect(
        "user-stays-after-prompt-login (AUTHZ-20): A request with prompt=login requires a new sign-in, but "
        "the old user stays signed in.",
        known_user=asked_to_sign_in,
        signed_in_as=user_of_before,
    ),
    defect(
        "signed-in-by-a-hint (AUTHZ-20): A login_hint signs a user in who has approved the agent before.",
        known_user=known_by_hint,
        consent=approved_where_hinted,
    ),
    defect(
        "declined-counts-after-a-sign-in (AUTHZ-17): A user who has declined an agent and signs in again is "
        "not asked, and the agent is approved.",
        **after_a_sign_in(lambda facts: facts.answers.get(facts.login_id) == "deny"),
    ),
    defect(
        "anothers-approval-counts-after-a-sign-in (AUTHZ-17): After a sign-in, the gateway does not ask a "
        "new user about an agent that another user has decided about, and approves it.",
        **after_a_sign_in(lambda facts: facts.login_id not in facts.answers and bool(facts.answers)),
    ),
)
