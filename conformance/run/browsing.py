"""Browsers of the harness that stay open over several authorizations."""

from __future__ import annotations

from conformance.gateway import CALLBACK, Visit
from conformance.parties import User
from conformance.signin.forms import FormsSignIn
from conformance.signin.landing import Landing, SignInRequest


class KeptBrowser:
    """One browser, its cookies kept from visit to visit."""

    def __init__(self, forms: FormsSignIn) -> None:
        self._forms = forms
        self._browser = forms.browser(CALLBACK)

    def visit(self, url: str, redirect_uri: str, user: User, *, approve: bool) -> Visit:
        """Opens an address, and the user does what is asked for."""
        request = SignInRequest(authorization_url=url, redirect_uri=redirect_uri, user=user, approve=approve)
        return visit_of(self._forms.sign_in_with(self._browser, request))

    def look(self, url: str, user: User) -> Visit:
        """Opens an address; redirects are followed, and the user does nothing at all."""
        return visit_of(self._forms.look(self._browser, _opening(url, user)))

    def hand_over(self, act: int, url: str, user: User) -> Visit | None:
        """The user's act of this number is sent by a browser without this one's cookies."""
        stranger = self._forms.browser(CALLBACK)
        landing = self._forms.hand_over(self._browser, stranger, _opening(url, user), act)
        return None if landing is None else visit_of(landing)


def visit_of(landing: Landing) -> Visit:
    """A landing as checks see it."""
    return Visit(
        sent_to=landing.sent_to,
        page=landing.outcome(),
        status=landing.status,
        acts=landing.acts,
        declined=landing.declined,
    )


def _opening(url: str, user: User) -> SignInRequest:
    return SignInRequest(authorization_url=url, redirect_uri=CALLBACK, user=user)
