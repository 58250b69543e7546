"""The page loop: the user fills in and submits page after page, until there is nothing more to do."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, Self

from gateproof.conformance.signin.addresses import lands_on, without_query
from gateproof.conformance.signin.browser import NoPage, Redirected, View
from gateproof.conformance.signin.filling import (
    asks_password,
    asks_who,
    choose_form,
    fill,
    link_forms,
    reading_of,
)
from gateproof.conformance.signin.hints import apply_hints
from gateproof.conformance.signin.page import Page
from gateproof.conformance.signin.sign_in_result import SignInRequest, SignInResult
from gateproof.conformance.signin.submission import said

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from gateproof.conformance.signin.page import Button, Field, Form
    from gateproof.conformance.targets.model import Step

MOST_PAGES = 12
# A page may ask for the password twice, if a session ended; a third time is a refusal.
_SAME_QUESTION = 2
_EXCERPT = 200
# Part of the message if scripts may be needed.
SCRIPTED = 'though its scripts may make one: try kind = "chromium" under [sign_in]'


@dataclass(slots=True)
class _Acts:
    """The user's actions so far in one sign-in."""

    count: int = 0
    declined: bool = False
    unticked: tuple[str, ...] = ()
    sent_last: tuple[tuple[str, str], ...] = ()
    passwords: int = 0
    pages: list[str] = field(default_factory=list)
    answered: Counter[tuple[str, ...]] = field(default_factory=Counter)


class Browsing(Protocol):
    """The interface of a browser for the page loop."""

    @property
    def changes_hidden(self) -> bool:
        """True if it sends hidden fields with the values that they have in the form, not in the page."""

    @property
    def hops(self) -> list[str]:
        """The URLs that it opened, without queries."""

    def open(self, url: str, /, *, approves: bool = True) -> View:
        """Opens a URL as if the user had typed it; `approves` is the answer to script dialogs."""

    def submit(self, page: Page, form: Form, pressed: Button | None = None, /) -> View:
        """Submits a form as it is filled in here, with this button if there is one."""

    def copy_cookies(
        self,
        other: Self,
        hosts: frozenset[str],
        /,
        *,
        names: Collection[str] | None = None,
        changed: Callable[[str], str] = str,
    ) -> None:
        """Puts the cookies of these hosts from another browser into this one; those with these names only.

        Their values may be `changed`.
        """

    def take_over(self, one: Self, /) -> None:
        """Takes over the current page of another browser, but keeps its own cookies."""

    def rest(self, *, stuck: bool) -> str:
        """Ends the visit. If the user got stuck, returns the name of a screenshot, if there is one."""


class PageSignIn:
    """Signs users in page by page, each time in a new browser."""

    def __init__(self, open_browser: Callable[[str], Browsing], *, steps: tuple[Step, ...] = ()) -> None:
        self._open_browser = open_browser
        self._steps = steps

    def browser(self, redirect_uri: str) -> Browsing:
        """A new browser that does not open the redirect URI."""
        return self._open_browser(redirect_uri)

    def sign_in(self, request: SignInRequest, /) -> SignInResult:
        return self.sign_in_with(self.browser(request.redirect_uri), request)

    def sign_in_with(self, browser: Browsing, request: SignInRequest) -> SignInResult:
        """The same, in a browser that may have cookies already."""
        with _resting(browser) as rest:
            first_hop = len(browser.hops)
            view = browser.open(request.authorization_url, approves=request.approve)
            landing = self._walk(browser, view, request, _Acts(), first_hop)
            # A screenshot of an error page would show no more than its answer.
            stuck = landing.sent_to is None and (landing.status is None or landing.status < 400)
            return replace(landing, picture=rest(stuck=stuck))

    def look(self, browser: Browsing, request: SignInRequest) -> SignInResult:
        """Opens the URL and follows redirects, without user actions."""
        with _resting(browser):
            first_hop = len(browser.hops)
            view = browser.open(request.authorization_url, approves=False)
            return _landing(view, request, _Acts(), None, tuple(browser.hops[first_hop:]))

    def act_in_other_browser(
        self,
        browser: Browsing,
        other: Browsing,
        request: SignInRequest,
        act: int,
        *,
        known: bool = False,
    ) -> SignInResult | None:
        """Another browser, without the first one's cookies, submits the user's action number `act`.

        The user continues in the other browser, but does not sign in there: a gateway may send it back to the
        start, and a new sign-in would be no replay. A browser with a session of its own (`known`) may get
        other pages at any time, so it stops after the action. None if the sign-in has fewer actions.
        """
        acts = _Acts()
        with _resting(browser), _resting(other):
            filled_in = self._up_to(browser, request, acts, act)
            if filled_in is None:
                return None
            other.take_over(browser)
            view = other.submit(*filled_in)
            if known:
                return _landing(view, request, acts, None, ())
            start = without_query(request.authorization_url)
            return self._walk(other, view, request, acts, 0, stop=lambda: start in other.hops)

    def call_before_act(
        self, browser: Browsing, request: SignInRequest, act: int, meanwhile: Callable[[], None]
    ) -> SignInResult | None:
        """Submits the user's action number `act` last, after calling `meanwhile`.

        None if the sign-in has fewer actions.
        """

        def unchanged(form: Form) -> Form:
            meanwhile()
            return form

        return self.submit_changed(browser, request, act, unchanged)

    def submit_changed(
        self,
        browser: Browsing,
        request: SignInRequest,
        act: int,
        changed: Callable[[Form], Form],
        *,
        goes_on: bool = False,
    ) -> SignInResult | None:
        """Submits the user's action number `act` with a changed form; stops there unless the user `goes_on`.

        None if the sign-in has fewer actions.
        """
        acts = _Acts()
        with _resting(browser):
            filled_in = self._up_to(browser, request, acts, act)
            if filled_in is None:
                return None
            page, form, pressed = filled_in
            view = browser.submit(page, changed(form), pressed)
            return (
                self._walk(browser, view, request, acts, 0)
                if goes_on
                else _landing(view, request, acts, None, ())
            )

    def _up_to(
        self, browser: Browsing, request: SignInRequest, acts: _Acts, act: int
    ) -> tuple[Page, Form, Button | None] | None:
        """The form of this action, filled in and not sent; None if the sign-in has fewer actions."""
        view = browser.open(request.authorization_url)
        while isinstance(view, Page):
            chosen = self._act(view, request, acts)
            if isinstance(chosen, str):
                return None
            if acts.count == act:
                return view, *chosen
            view = browser.submit(view, *chosen)
        return None

    def _walk(
        self,
        browser: Browsing,
        view: View,
        request: SignInRequest,
        acts: _Acts,
        first_hop: int,
        stop: Callable[[], bool] | None = None,
    ) -> SignInResult:
        """Goes from page to page until there is nothing more to do; with `stop`, never signs in."""
        stuck: str | None = None
        for _ in range(MOST_PAGES):
            if not isinstance(view, Page):
                break
            if stop is not None and (stop() or any(asks_who(form) for form in view.forms)):
                stuck = "the user was asked to sign in again"
                break
            act = self._act(view, request, acts)
            if isinstance(act, str):
                stuck = act
                break
            view = browser.submit(view, *act)
        else:
            stuck = f"more than {MOST_PAGES} pages"
        return _landing(view, request, acts, stuck, tuple(browser.hops[first_hop:]))

    def _act(self, page: Page, request: SignInRequest, acts: _Acts) -> tuple[Form, Button | None] | str:
        """The form as the user submits it, or the reason why the user stops here."""
        if not page.forms and page.status == 200:
            page = replace(page, forms=link_forms(page, approve=request.approve, leads_on=not acts.count))
        if not page.forms:
            none = "there is no form on the page"
            return f"{none}, {SCRIPTED}" if page.scripted and page.status == 200 else none
        page = replace(page, forms=tuple(fill(form, request.user) for form in page.forms))
        chosen = apply_hints(page, self._steps, request.user, approve=request.approve)
        chosen = chosen or choose_form(page, approve=request.approve)
        if chosen is None:
            return f"no button on the page reads like {'approval' if request.approve else 'refusal'}"
        form, button = chosen
        if asks_password(form):
            acts.passwords += 1
            question = (
                without_query(form.action),
                *(item.name for item in form.fields if item.kind != "hidden"),
            )
            acts.answered[question] += 1
            # A deliberately wrong password is typed only once: a merchant may lock the account.
            most = 1 if request.user.password.kind == "wrong_password" else _SAME_QUESTION
            if acts.answered[question] > most:
                return "the page keeps asking for the password"
        acts.count += 1
        acts.pages.append(without_query(page.url))
        acts.unticked = tuple(item.id or item.name for item in form.fields if _is_left_open(item))
        acts.sent_last = () if asks_password(form) else tuple(said(form, button))
        acts.declined = acts.declined or (button is not None and reading_of(button, form) == "deny")
        return form, button


def _is_left_open(item: Field) -> bool:
    return item.kind == "checkbox" and not item.on


@contextmanager
def _resting(browser: Browsing) -> Iterator[Callable[..., str]]:
    """Ends the visit of the browser in any case."""
    said: list[str] = []

    def rest(*, stuck: bool) -> str:
        said.append(browser.rest(stuck=stuck))
        return said[0]

    try:
        yield rest
    finally:
        if not said:
            browser.rest(stuck=False)


def _landing(
    view: View, request: SignInRequest, acts: _Acts, stuck: str | None, hops: tuple[str, ...]
) -> SignInResult:
    common = SignInResult(
        hops=hops,
        acts=acts.count,
        declined=acts.declined,
        acted_on=tuple(acts.pages),
        unticked=acts.unticked,
        sent_last=acts.sent_last,
        passwords=acts.passwords,
    )
    match view:
        case Redirected(url=url) if lands_on(request.redirect_uri, url):
            return replace(common, redirected_to=url)
        case Redirected(url=url):
            return replace(common, left_to=url)
        case NoPage(reason=reason):
            return replace(common, stuck=reason)
        case Page():
            excerpt = view.text[:_EXCERPT]
            return replace(
                common,
                status=view.status,
                title=view.title[:_EXCERPT],
                excerpt=excerpt,
                stuck=stuck,
                ended_at=without_query(view.url),
                asks=bool(view.forms),
            )
