"""Browsers that are kept over several authorizations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Self
from urllib.parse import parse_qsl, urlsplit

from gateproof.conformance.kit.gateway.gateway import CALLBACK, BeyondReach, Visit
from gateproof.conformance.run.gateway.replacing import replaced, replaced_in_url
from gateproof.conformance.signin.addresses import lands_on, resolve
from gateproof.conformance.signin.page import Form
from gateproof.conformance.signin.page_loop import PageSignIn
from gateproof.conformance.signin.sign_in_result import SignInRequest, SignInResult
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.suite.parties import User
from gateproof.conformance.wire.route import parts_of

# Parameters that mark the end of an authorization, wherever the URL leads.
_ANSWERS = {"code", "access_token", "id_token", "token", "error"}


class KeptBrowser:
    """One browser that keeps its cookies between visits."""

    def __init__(self, pages: PageSignIn, landed: Callable[[SignInResult], None] = lambda _: None) -> None:
        self._pages = pages
        self._landed = landed
        self._browser = pages.browser(CALLBACK)

    @property
    def is_real(self) -> bool:
        """True for a browser that runs scripts; another one then takes over its whole window."""
        return not self._browser.changes_hidden

    def visit(self, url: str, redirect_uri: str, user: User, *, approve: bool) -> Visit:
        """Opens a URL, and the user acts on the pages."""
        request = SignInRequest(authorization_url=url, redirect_uri=redirect_uri, user=user, approve=approve)
        return self._seen(self._pages.sign_in_with(self._browser, request), request)

    def look(self, url: str, user: User) -> Visit:
        """Opens a URL and follows redirects; the user does nothing."""
        request = _opening(url, user)
        return self._seen(self._pages.look(self._browser, request), request)

    def copy_cookies(
        self, other: Self, hosts: frozenset[str], /, *, names: Collection[str] | None = None
    ) -> None:
        """Puts the cookies of these hosts from another browser into this one; those with these names only."""
        self._browser.copy_cookies(other._browser, hosts, names=names)

    def forge_cookies(self, other: Self, hosts: frozenset[str], changes: Mapping[str, str], /) -> None:
        """Puts the cookies of these hosts from another browser into this one, with these texts replaced."""
        forged: list[str] = []

        def changed(value: str) -> str:
            other_value = replaced(value, changes)
            if other_value != value:
                forged.append(other_value)
            return other_value

        self._browser.copy_cookies(other._browser, hosts, changed=changed)
        if not forged:
            raise LeftOut("what this check changes is in no cookie")

    def act_in_other_browser(self, act: int, url: str, user: User, *, to: Self | None = None) -> Visit | None:
        """Submits the user's action number `act` in another browser, without this one's cookies."""
        other = self._pages.browser(CALLBACK) if to is None else to._browser  # noqa: SLF001 - of the same kind
        request = _opening(url, user)
        landing = self._pages.act_in_other_browser(self._browser, other, request, act, known=to is not None)
        return None if landing is None else self._seen(landing, request)

    def call_before_act(self, act: int, url: str, user: User, meanwhile: Callable[[], None]) -> Visit | None:
        """Submits the user's action number `act` after calling `meanwhile`; then the visit ends."""
        request = _opening(url, user)
        landing = self._pages.call_before_act(self._browser, request, act, meanwhile)
        return None if landing is None else self._seen(landing, request)

    def submit_changed(
        self,
        act: int,
        url: str,
        user: User,
        changes: Mapping[str, str],
        *,
        in_address: bool = False,
        goes_on: bool = False,
    ) -> Visit | None:
        """Submits the user's action number `act` with these texts replaced; the visit ends, or `goes_on`."""
        if not self._browser.changes_hidden:
            raise LeftOut("a real browser sends hidden fields as the page has them")
        request = _opening(url, user)

        def changed(form: Form) -> Form:
            if lands_on(CALLBACK, form.action):
                raise LeftOut("the form is sent to the agent, and not to the gateway")
            other = replace(form, action=replaced_in_url(form.action, changes)) if in_address else form
            for item in () if in_address else form.fields:
                value = replaced(item.value, changes)
                if item.kind == "hidden" and value != item.value:
                    other = other.replacing(item, replace(item, value=value))
            if other == form:
                where = "address" if in_address else "hidden fields"
                raise LeftOut(f"what this check changes is not in the {where} of the form")
            return other

        landing = self._pages.submit_changed(self._browser, request, act, changed, goes_on=goes_on)
        return None if landing is None else self._seen(landing, request)

    def _seen(self, landing: SignInResult, request: SignInRequest) -> Visit:
        self._landed(landing)
        return visit_of(landing, request)


def visit_of(landing: SignInResult, request: SignInRequest) -> Visit:
    """The sign-in result as a `Visit` for checks.

    Raises BeyondReach if the sign-in continues at a host that is outside of the run, such as an identity
    provider. That says nothing about the gateway.
    """
    host = parts_of(landing.left_to or "").hostname
    meant = {urlsplit(url).hostname for url in (request.redirect_uri, CALLBACK)}
    visit = Visit(
        sent_to=landing.sent_to,
        page=landing.outcome(),
        status=landing.status,
        acts=landing.acts,
        declined=landing.declined,
        acted_on=landing.acted_on,
        unticked=landing.unticked,
        sent_last=landing.sent_last,
        passwords=landing.passwords,
        ended_at=landing.ended_at,
        asks=landing.asks,
        answers=_answers(landing.left_to, request),
    )
    if landing.left_to and host is not None and host not in meant and not _ANSWERS & _names(landing.left_to):
        raise BeyondReach(landing.left_to, visit)
    return visit


def _answers(left_to: str | None, request: SignInRequest) -> bool:
    """Whether this URL can be the answer to the request: it has a host of the request, or its state.

    A misdirected code is recognized by the state. The parameter `code` is not enough: error pages use it too.
    """
    if left_to is None:
        return True
    asked = parse_qsl(urlsplit(request.authorization_url).query)
    uris = {request.redirect_uri, CALLBACK, *(value for name, value in asked if name == "redirect_uri")}
    hosts = {_host(way) for uri in uris for way in (uri, resolve(CALLBACK, uri))}
    there = parts_of(left_to)
    if there.scheme not in {"http", "https"} or _host(left_to) in {*hosts, None}:
        return True
    came = parse_qsl(f"{there.query}&{there.fragment}".replace("?", "&"))
    return any(pair in came for pair in asked if pair[0] == "state")


def _host(url: str) -> str | None:
    return parts_of(url).hostname


def _names(url: str) -> set[str]:
    """The names of the parameters in the query and fragment of a URL."""
    parts = parts_of(url)
    return {
        name for text in (parts.query, parts.fragment) for name, _ in parse_qsl(text, keep_blank_values=True)
    }


def _opening(url: str, user: User) -> SignInRequest:
    return SignInRequest(authorization_url=url, redirect_uri=CALLBACK, user=user)
