"""Sign-in by the person at the terminal, in a browser of their own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from conformance.signin.landing import Landing, SignInFailed, SignInRequest, landing_at

if TYPE_CHECKING:
    from typing import TextIO


class ManualSignIn:
    """Shows the authorization URL and reads back the address at which the browser ended."""

    def __init__(self, *, ask: TextIO | None = None, tell: TextIO | None = None) -> None:
        self._ask = ask
        self._tell = tell

    def sign_in(self, request: SignInRequest, /) -> Landing:
        ask, tell = self._ask or sys.stdin, self._tell or sys.stderr
        if not ask.isatty():
            raise SignInFailed("manual sign-in needs a terminal to ask at; choose another [sign_in] kind")
        what = "approve" if request.approve else "decline"
        tell.write(
            f"\nOpen this in a browser without cookies, sign in as {request.user.login}, and {what}:\n"
            f"\n  {request.authorization_url}\n\n"
            f"It ends at {request.redirect_uri}, where nothing may answer. Paste the address from\n"
            "the address bar here, or press Enter if it ended on a page:\n> "
        )
        tell.flush()
        line = ask.readline()
        if not line:
            raise SignInFailed("the terminal was closed")
        return landing_at(request, line.strip() or None)
