"""The authorization endpoint and the sign-in form."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import Response

from gateproof.fakes.merchant.forms import read_form, read_parameters, shown, single
from gateproof.fakes.merchant.grants import CodeTerms, Grantee
from gateproof.fakes.merchant.merchant import Merchant
from gateproof.fakes.merchant.pages import form_post_page, problem_page, sign_in_page
from gateproof.fakes.merchant.records import JournalEntry
from gateproof.fakes.merchant.refusal import Refused
from gateproof.fakes.merchant.shape import path_of
from gateproof.fakes.merchant.tickets import AuthorizationRequest

# The answer as a form that the browser posts to the client; the default of some OpenID Connect libraries.
FORM_POST = "form_post"
URL_CHARACTERS = ":/?#[]@!$&'()*+,;=%-._~"


async def authorize(merchant: Merchant, request: Request, entry: JournalEntry) -> Response:
    """Accepts an authorization request, by GET or POST, and shows the sign-in form."""
    try:
        if request.method == "POST":
            asked = await read_form(request)
        else:
            asked = read_parameters(request.scope["query_string"])
        client = merchant.clients.find(single(asked, "client_id"))
        redirect_uri = _redirect_uri(single(asked, "redirect_uri"))
        if client is None:
            raise Refused("invalid_client", "no such client")
    except Refused as refused:
        entry.error = f"{refused.error}: {refused.description}"
        return problem_page(refused.description)
    merchant.ledger.belongs_to(entry, client.client_id)
    entry.sent = shown(asked)
    if merchant.lies.sends_browsers_to is not None:
        query = urlencode({**entry.sent, **merchant.lies.parameters}, errors="surrogateescape")
        return _redirect(merchant, f"{merchant.lies.sends_browsers_to}?{query}")
    state = single(asked, "state")
    try:
        _check(asked)
    except Refused as refused:
        entry.error = f"{refused.error}: {refused.description}"
        by_form = asked.get("response_mode") == [FORM_POST]
        return _back(merchant, redirect_uri, {"error": refused.error}, _states(state), by_form=by_form)
    ticket = merchant.tickets.issue(
        AuthorizationRequest(
            client=client,
            redirect_uri=redirect_uri,
            scope=single(asked, "scope"),
            state=state,
            nonce=single(asked, "nonce"),
            challenge=single(asked, "code_challenge"),
            challenge_method=single(asked, "code_challenge_method") or "plain",
            by_form=single(asked, "response_mode") == FORM_POST,
        )
    )
    if merchant.shape.detour_to_sign_in:
        query = urlencode({merchant.shape.page.ticket_name: ticket})
        return _redirect(merchant, f"{path_of(merchant.shape.endpoints.sign_in)}?{query}")
    return sign_in_page(merchant.shape, ticket)


async def show_form(merchant: Merchant, request: Request, _entry: JournalEntry) -> Response:
    """The form at its own URL, if the seed selects a redirect to it."""
    try:
        ticket = single(read_parameters(request.scope["query_string"]), merchant.shape.page.ticket_name)
    except Refused as refused:
        return problem_page(refused.description)
    if merchant.tickets.find(ticket or "") is None:
        return problem_page("This sign-in is over. Start again.")
    return sign_in_page(merchant.shape, ticket or "")


async def submit_form(merchant: Merchant, request: Request, entry: JournalEntry) -> Response:
    """Checks login and password; if they are right, redirects the browser back with a code."""
    try:
        form = await read_form(request)
    except Refused as refused:
        return problem_page(refused.description)
    ticket = single(form, merchant.shape.page.ticket_name) or ""
    asked = merchant.tickets.find(ticket)
    if asked is None:
        return problem_page("This sign-in is over. Start again.")
    merchant.ledger.belongs_to(entry, asked.client.client_id)
    user = merchant.accounts.signed_in(single(form, "username") or "", single(form, "password") or "")
    script = merchant.clients.script(asked.client.client_id, user.login if user is not None else None)
    if user is None or script.page == "wrong_password":
        entry.error = "wrong login or password"
        if user is not None:
            _note_outcome(merchant, entry, script.page)
        status = merchant.shape.wrong_password_status
        return sign_in_page(merchant.shape, ticket, message="Wrong login or password.", status=status)
    entry.login = user.login
    merchant.tickets.spend(ticket)
    states = _states(asked.state, script.state)
    if script.page != "ok":
        _note_outcome(merchant, entry, script.page)
    if script.error is not None:
        entry.error = script.error
        return _back(merchant, asked.redirect_uri, {"error": script.error}, states, by_form=asked.by_form)
    if script.code_of is not None:
        kept = merchant.grants.kept(asked.client, script.code_of)
        result = {} if kept is None else {"code": kept}
        return _back(merchant, asked.redirect_uri, result, states, by_form=asked.by_form)
    grantee = Grantee(client=asked.client, user=user, act=None, scope=asked.scope)
    code = merchant.grants.code(
        CodeTerms(
            grantee=grantee,
            redirect_uri=asked.redirect_uri,
            nonce=asked.nonce,
            challenge=asked.challenge,
            challenge_method=asked.challenge_method,
        )
    )
    if script.page == "keep_code":
        merchant.grants.keep(grantee, code)
        return problem_page("You are signed in. Nothing follows here.")
    return _back(merchant, asked.redirect_uri, {"code": code}, states, by_form=asked.by_form)


def _note_outcome(merchant: Merchant, entry: JournalEntry, outcome: str) -> None:
    entry.outcome = outcome
    merchant.ledger.count(entry.client_id or "", outcome)


def _redirect_uri(redirect_uri: str | None) -> str:
    """Accepts any absolute URI."""
    try:
        parts = urlsplit(redirect_uri or "")
    except ValueError:
        parts = urlsplit("")
    if redirect_uri is None or not parts.scheme or parts.fragment:
        raise Refused("invalid_request", "redirect_uri has to be an absolute URI without a fragment")
    return redirect_uri


def _check(asked: dict[str, list[str]]) -> None:
    if single(asked, "response_type") != "code":
        missing = single(asked, "response_type") is None
        error = "invalid_request" if missing else "unsupported_response_type"
        raise Refused(error, "response_type has to be code")
    if single(asked, "response_mode") not in (None, "query", FORM_POST):
        raise Refused("invalid_request", "response_mode has to be query or form_post")
    for unsupported in ("request", "request_uri"):
        if single(asked, unsupported) is not None:
            raise Refused(f"{unsupported}_not_supported", f"{unsupported} is not supported")
    if single(asked, "prompt") == "none":
        raise Refused("login_required", "the user has to sign in")
    challenge, method = single(asked, "code_challenge"), single(asked, "code_challenge_method")
    if method is not None and (challenge is None or method not in ("S256", "plain")):
        raise Refused(
            "invalid_request", "code_challenge_method has to be S256 or plain, with a code_challenge"
        )


def _states(state: str | None, script: str = "same") -> tuple[str, ...]:
    """The values of `state` in a redirect, for the `state` of the request and the word of a script."""
    if state is None or script == "missing":
        return ()
    match script:
        case "empty":
            return ("",)
        case "another":
            return (secrets.token_urlsafe(24),)
        case "doubled":
            return (state, state)
        case _:
            return (state,)


def _back(
    merchant: Merchant,
    redirect_uri: str,
    result: Mapping[str, str],
    states: tuple[str, ...],
    *,
    by_form: bool,
) -> Response:
    """Sends the browser back to the client, with every byte of `state` unchanged."""
    members: dict[str, Any] = {**result}
    if states:
        members["state"] = states
    issuer = merchant.shape.endpoints.issuer if merchant.shape.sends_iss else ""
    if merchant.lies.redirect_iss is not None:
        issuer = merchant.lies.redirect_iss
    if issuer:
        members["iss"] = issuer
    ordered = merchant.shape.ordered(members)
    if by_form:
        pairs = [
            (name, value) for name in ordered for value in (states if name == "state" else (members[name],))
        ]
        return form_post_page(redirect_uri, pairs)
    query = urlencode(ordered, doseq=True, errors="surrogateescape", quote_via=quote, safe="")
    joint = "&" if "?" in redirect_uri else "?"
    return _redirect(merchant, redirect_uri + joint + query)


def _redirect(merchant: Merchant, location: str) -> Response:
    safe = quote(location, safe=URL_CHARACTERS, errors="surrogateescape")
    headers = {"location": safe, "cache-control": "no-store", "referrer-policy": "no-referrer"}
    return Response(status_code=merchant.shape.redirect_status, headers=headers)
