"""Other legal ways to authorize: accepted requests, pages, sessions and redirects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from secrets import token_bytes, token_hex, token_urlsafe
from types import MappingProxyType
from typing import Any
from urllib.parse import quote_plus

from gateproof.reference.defects.gateway.silent_requests import SILENT, filled_by_the_object, noting_silence
from gateproof.reference.gateway.pages import ApprovePageFacts
from gateproof.reference.gateway.policies import PAGE_HEADERS
from gateproof.reference.gateway.policy import authorization, sign_in
from gateproof.reference.gateway.policy.authorization import (
    REDIRECT_CHECKS,
    AuthorizationCheck,
    AuthorizationFacts,
    ConsentFacts,
)
from gateproof.reference.gateway.records import AuthorizationRequest, Person, SignIn, Standing
from gateproof.reference.gateway.store import Store
from gateproof.reference.outcomes import Refusal
from gateproof.reference.variants.variant import variant

MESSY_PAGE = """<HTML><head><title>Really?
</title><!-- <form action="/trap"><input name=ticket value=trap><button>Approve</button></form> -->
<body bgcolor=white><p>Hello {user}<p><b>{name}</b> of {domain} wants {scopes}
<table><form METHOD=POST action='{action}'><tr><td><input type=hidden name=ticket value='{ticket}'>
<tr><td><input type=checkbox name=news value=1> Send me news
<tr><td><input type=submit name=decision value=deny id=no><td>
<button name=decision value=approve>Yes, <i>allow</i> it</button></form></table>
<template><form><button>Approve</button></form></template>
"""

TWO_FORMS_PAGE = """<!doctype html><title>Allow {name}?</title>
<form action="{action}" method="post"><input type="hidden" name="ticket" value="{ticket}">
<input type="hidden" name="decision" value="deny"><input type="submit" value="Cancel"></form>
<form action="{action}" method="post"><input type="hidden" name="ticket" value="{ticket}">
<input type="hidden" name="user" value="you"><input type="hidden" name="agent" value="{name}">
<input type="hidden" name="decision" value="approve"><label><input type="checkbox" name="sure" required>
I know what I do</label><input type="submit" value="Allow"></form>
"""


def _without(*left_out: AuthorizationCheck) -> tuple[AuthorizationCheck, ...]:
    return tuple(check for check in REDIRECT_CHECKS if check not in left_out)


def _known_scopes_only(facts: AuthorizationFacts) -> AuthorizationRequest:
    known = {"openid", "ext_token:read", *facts.resource.scopes}
    request = authorization.authorization_request(facts)
    return replace(request, scopes=tuple(scope for scope in request.scopes if scope in known))


def _state_is_there(facts: AuthorizationFacts) -> Refusal | None:
    return None if facts.values("state") == [""] else authorization.state_is_given(facts)


def _either_case(facts: AuthorizationFacts) -> Refusal | None:
    given = facts.value("code_challenge_method")
    return None if given == "s256" else authorization.challenge_method_is_s256(facts)


def _asked_once(facts: ConsentFacts) -> Standing | None:
    approved = facts.standing == "approved" and facts.answers.get(facts.login_id) == "approve"
    return "approved" if approved else authorization.consent(facts)


def _silent_where_approved(facts: ConsentFacts) -> Standing | None:
    return _asked_once(facts) if SILENT.get() and facts.was_signed_in else authorization.consent(facts)


def _no_request_object(facts: AuthorizationFacts) -> Refusal | None:
    if not facts.value("request"):
        return None
    return Refusal(status=400, error="request_not_supported", description="send the parameters in the query")


def _state_first(request: AuthorizationRequest, code: str, _issuer: str) -> str:
    """Another order, other parameters, and a plus for a space."""
    joint = "&" if "?" in request.redirect_uri else "?"
    scope = quote_plus(" ".join(request.scopes))
    state = quote_plus(request.state)
    return (
        f"{request.redirect_uri}{joint}state={state}&session_state={token_hex(4)}&scope={scope}&code={code}"
    )


def _with_an_empty_fragment(request: AuthorizationRequest, code: str, issuer: str) -> str:
    return authorization.code_redirect(request, code, issuer) + "#_=_"


def _bare_error(uri: str, error: str, _description: str, state: str, _issuer: str) -> str:
    joint = "&" if "?" in uri else "?"
    return f"{uri}{joint}error={error}" + (f"&state={quote_plus(state)}" if state else "")


def _headers(*dropped: str, **changed: str) -> Mapping[str, str]:
    kept = {name: value for name, value in PAGE_HEADERS.items() if name not in dropped}
    return MappingProxyType(kept | {name.replace("_", "-"): value for name, value in changed.items()})


def _page_of(source: str, facts: ApprovePageFacts) -> str:
    return source.format(**facts.escaped())


def _nobody(_person: Person | None, _now: float) -> Person | None:
    return None


def _one_session() -> dict[str, Any]:
    """Signs a user out of all other browsers at a sign-in, even while an approval is open."""
    latest: dict[tuple[str, str], Person] = {}

    def person_named(facts: sign_in.IdTokenFacts) -> Person | None:
        person = sign_in.person_named(facts)
        if person is not None:
            latest[facts.merchant.client_id, person.login_id] = person
        return person

    def stands(person: Person) -> bool:
        return any(person is each for each in latest.values())

    def remembered(person: Person | None, now: float) -> Person | None:
        return sign_in.remembered(person, now) if person is not None and stands(person) else None

    def same_browser(begun: SignIn, browser: str | None) -> bool:
        return sign_in.same_browser(begun, browser) and (begun.person is None or stands(begun.person))

    return {"person_named": person_named, "remembered": remembered, "same_browser": same_browser}


def _asks_again(_store: Store, facts: AuthorizationFacts, person: Person | None) -> Person | None:
    wanted = facts.value("prompt") == "login" or facts.value("max_age") == "0"
    return None if wanted else person


def _newest_page(store: Store, begun: SignIn) -> SignIn | None:
    newest = [each for each in store.sign_ins.values() if each.browser == begun.browser and each.person]
    return begun if newest[-1:] == [begun] else None


def _told_who_it_is(_store: Store, facts: AuthorizationFacts, person: Person | None) -> Person | None:
    """Requires a sign-in if the request names another user than the signed-in one."""
    hint = facts.value("login_hint")
    return None if person is not None and hint not in ("", person.login_id) else person


VARIANTS = (
    variant(
        "errors-on-a-page: the gateway shows errors and denials on a page; it sends the agent only errors "
        "in the scope",
        redirects_error=lambda refusal: refusal.error == "invalid_scope",
    ),
    variant(
        "pending-agents-are-told: a Pending agent gets an error by redirect",
        pending_redirects_error=True,
    ),
    variant("redirects-by-303: every redirect has the status 303", redirect_status=303),
    variant("redirects-by-307 (AUTHZ-26): every redirect has the status 307", redirect_status=307),
    variant("redirects-by-301: every redirect has the status 301", redirect_status=301),
    variant(
        "unknown-scopes-left-out: the gateway ignores scopes that the Resource does not have",
        redirect_checks=_without(authorization.scopes_are_known),
        authorization_request=_known_scopes_only,
    ),
    variant(
        "scopes-as-they-come: the gateway requires neither openid nor a scope of the Resource",
        redirect_checks=_without(
            authorization.scopes_include_openid, authorization.scopes_include_one_of_the_resource
        ),
    ),
    variant(
        "empty-state-comes-back-empty: the gateway accepts an empty state and returns it",
        redirect_checks=(*_without(authorization.state_is_given), _state_is_there),
    ),
    variant(
        "s256-in-either-case: the gateway accepts the challenge method s256 in lower case, too",
        redirect_checks=(*_without(authorization.challenge_method_is_s256), _either_case),
    ),
    variant(
        "approval-remembered: the gateway does not ask a user again about an agent that the user has "
        "approved",
        consent=_asked_once,
    ),
    variant(
        "silent-where-approved: a request with prompt=none gives a code without a page, if the user is "
        "signed in and has approved the agent",
        known_user=noting_silence,
        consent=_silent_where_approved,
    ),
    variant(
        "request-objects-are-read: parameters that the query lacks come from the request object, and are "
        "then checked",
        read_query=filled_by_the_object,
    ),
    variant(
        "request-objects-are-refused: a request with a request object gets the error request_not_supported",
        redirect_checks=(*REDIRECT_CHECKS, _no_request_object),
    ),
    variant(
        "nobody-stays-signed-in: every authorization requires a sign-in",
        remembered=_nobody,
    ),
    variant(
        "asks-to-sign-in-again: prompt=login and max_age=0 require a sign-in of a user who is already "
        "signed in",
        known_user=_asks_again,
    ),
    variant(
        "hint-at-another-user: a login_hint with another user requires a sign-in",
        known_user=_told_who_it_is,
    ),
    variant(
        "newest-page-alone: the gateway refuses a decision on another approve page than the one that the "
        "browser opened last",
        sign_in_decided=_newest_page,
    ),
    variant(
        "one-session-a-user: a sign-in signs the user out of all other browsers",
        **_one_session(),
    ),
    variant(
        "state-before-code: the redirect has state before code, and additional parameters",
        code_redirect=_state_first,
    ),
    variant(
        "fragment-behind-the-code: the redirect ends with a fragment that has no meaning",
        code_redirect=_with_an_empty_fragment,
    ),
    variant(
        "errors-without-description: an error redirect has only error and state", error_redirect=_bare_error
    ),
    variant(
        "codes-with-a-prefix: a code is a prefix and 128 bits in hexadecimal",
        new_code=lambda _ids: "code_v1_" + token_hex(16),
    ),
    variant(
        "codes-of-128-bits: a code is 128 bits in base64url, so that its last character has only two of them",
        new_code=lambda _ids: token_urlsafe(16),
    ),
    variant(
        "codes-in-capitals: a code is 160 bits in upper-case hexadecimal, in groups",
        new_code=lambda _ids: "-".join(token_bytes(5).hex().upper() for _ in range(4)),
    ),
    variant(
        "pages-framed-at-home: the gateway may frame its own pages, and they send it their URL as Referer",
        page_headers=_headers(
            "x-frame-options",
            content_security_policy="default-src 'self'; frame-ancestors 'self'",
            referrer_policy="same-origin",
        ),
    ),
    variant(
        "pages-with-the-older-header: pages forbid framing only by X-Frame-Options, and have the referrer "
        "policy of most sites",
        page_headers=_headers(
            "content-security-policy",
            x_frame_options="sameorigin",
            referrer_policy="no-referrer, strict-origin-when-cross-origin",
        ),
    ),
    variant(
        "pages-without-a-referrer-policy: pages have no Referrer-Policy, and refer to no other host",
        page_headers=_headers("referrer-policy"),
    ),
    variant(
        "messy-approve-page: the approve page is not well-formed, and has forms in comments and templates",
        approve_page=lambda facts: _page_of(MESSY_PAGE, facts),
    ),
    variant(
        "two-forms-to-answer-with: the approve page has one form to deny and another to approve, with a "
        "checkbox that is required",
        approve_page=lambda facts: _page_of(TWO_FORMS_PAGE, facts),
    ),
)
