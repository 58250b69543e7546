"""Sign-in by a person at the terminal, in their own browser."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from gateproof.conformance.signin.sign_in_result import SignInFailed, SignInRequest, SignInResult, landing_at

if TYPE_CHECKING:
    from typing import Literal, TextIO


NO_TERMINAL = "manual sign-in needs a terminal to ask at; choose another [sign_in] kind"


class ManualSignIn:
    """Prints the authorization URL and reads the URL at which the browser ended."""

    def __init__(self, *, ask: TextIO | None = None, tell: TextIO | None = None) -> None:
        self._ask = ask
        self._tell = tell

    def sign_in(self, request: SignInRequest, /) -> SignInResult:
        with ExitStack() as stack:
            ask = self._ask or stack.enter_context(_terminal("r"))
            tell = self._tell or stack.enter_context(_terminal("w"))
            return self._asked(request, ask, tell)

    def _asked(self, request: SignInRequest, ask: TextIO, tell: TextIO) -> SignInResult:
        if not ask.isatty():
            raise SignInFailed(NO_TERMINAL)
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


def _terminal(mode: Literal["r", "w"]) -> TextIO:
    """Opens the terminal itself: while checks run, stdin and stdout belong to the test runner."""
    try:
        return Path("/dev/tty").open(mode, encoding="utf-8")
    except OSError:
        raise SignInFailed(NO_TERMINAL) from None
