"""A sign-in that is asked for, and where the browser ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from gateproof.conformance.signin.addresses import lands_on

if TYPE_CHECKING:
    from gateproof.conformance.suite.parties import User


class SignInFailed(Exception):
    """The way to sign in broke, so nothing can be said about the target."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInRequest:
    """An authorization URL that a user is to follow, and what the user will say there."""

    authorization_url: str
    redirect_uri: str
    user: User
    approve: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInResult:
    """Where the browser ended: sent to the redirect URI, sent elsewhere, or on a page.

    `redirected_to` and `left_to` are where it would have gone; neither was fetched. `acts` counts what the
    user did by pressing or submitting, `acted_on` are the pages of that; ways to sign in that cannot see it
    leave them out. `picture` names the file that shows where the user stuck, `unticked` the boxes that were
    left so in the form that was sent last, and `sent_last` is what that one said, unless it asked for a
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
    # How many forms asked for a password; None where the way to sign in cannot see it.
    passwords: int | None = None

    @property
    def sent_to(self) -> str | None:
        """Wherever the browser was sent away to, the right address or another one."""
        return self.redirected_to or self.left_to

    def outcome(self) -> str:
        """Where it ended, in a few words and without a query."""
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
    """A way to sign a user in."""

    def sign_in(self, request: SignInRequest, /) -> SignInResult: ...


@runtime_checkable
class ClosableSignIn(SignIn, Protocol):
    """A way to sign in that has something to put away in the end."""

    def close(self) -> None: ...


def landing_at(request: SignInRequest, url: str | None) -> SignInResult:
    """The landing that somebody else reports by its address, or by None for a page."""
    if url is None:
        return SignInResult(stuck="the browser ended on a page")
    if lands_on(request.redirect_uri, url):
        return SignInResult(redirected_to=url)
    return SignInResult(left_to=url)
