"""The request for a sign-in, and its result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from gateproof.conformance.signin.addresses import lands_on

if TYPE_CHECKING:
    from gateproof.conformance.suite.parties import User


class SignInFailed(Exception):
    """The sign-in method failed, so nothing is known about the target."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInRequest:
    """An authorization URL, and the decision of the user."""

    authorization_url: str
    redirect_uri: str
    user: User
    approve: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInResult:
    """Where the browser ended: sent to the redirect URI, to another URL, or on a page.

    `redirected_to` and `left_to` are URLs that were not opened. `acts` counts the submitted forms, `acted_on`
    are their pages; some sign-in methods do not know these. `picture` is the file of a screenshot. `unticked`
    are the boxes left unticked in the last form, and `sent_last` is its content, unless it asked for a
    password.
    """

    redirected_to: str | None = None
    left_to: str | None = None
    status: int | None = None
    title: str = ""
    excerpt: str = ""
    hops: tuple[str, ...] = ()
    stuck: str | None = None
    acts: int | None = None
    declined: bool | None = None
    acted_on: tuple[str, ...] = ()
    picture: str = ""
    unticked: tuple[str, ...] = ()
    sent_last: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    # The URL of the page on which the browser ended, without its query, and whether the page has a form.
    ended_at: str = ""
    asks: bool = False
    # How many forms asked for a password; None if the sign-in method does not know it.
    passwords: int | None = None

    @property
    def sent_to(self) -> str | None:
        """The URL to which the browser was sent, whichever it is."""
        return self.redirected_to or self.left_to

    def outcome(self) -> str:
        """A short description of the end, without a query."""
        if self.redirected_to is not None:
            return "sent to the redirect URI"
        if self.left_to is not None:
            return f"sent to {self.left_to.partition('?')[0].partition('#')[0]}"
        shown = f", see {self.picture}" if self.picture else ""
        if self.status is None:
            return (self.stuck or "nowhere") + shown
        page = f"status {self.status}" + (f", titled {self.title!r}" if self.title else "")
        return f"on a page ({page}): {self.stuck or 'no redirect'}{shown}"


class SignIn(Protocol):
    """A sign-in method."""

    def sign_in(self, request: SignInRequest, /) -> SignInResult: ...


@runtime_checkable
class ClosableSignIn(SignIn, Protocol):
    """A sign-in method that has to be closed."""

    def close(self) -> None: ...


def landing_at(request: SignInRequest, url: str | None) -> SignInResult:
    """The result for a URL that a program or person reported; None stands for a page."""
    if url is None:
        return SignInResult(stuck="the browser ended on a page")
    if lands_on(request.redirect_uri, url):
        return SignInResult(redirected_to=url)
    return SignInResult(left_to=url)
