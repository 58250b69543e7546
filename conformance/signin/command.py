"""Sign-in by a command: it reads the request as JSON and prints where the browser was sent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from gateproof.conformance.signin.sign_in_result import SignInFailed, SignInRequest, SignInResult, landing_at
from gateproof.conformance.targets.processes import CommandFailed, exit_text, run_command

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TIMEOUT_S = 120.0
_LONGEST_ANSWER = 1024 * 1024


class CommandSignIn:
    """Runs a program of the target's developers for each sign-in."""

    def __init__(self, command: Sequence[str], *, cwd: Path) -> None:
        self._command = tuple(command)
        self._cwd = cwd

    def sign_in(self, request: SignInRequest, /) -> SignInResult:
        asked = json.dumps(
            {
                "authorization_url": request.authorization_url,
                "redirect_uri": request.redirect_uri,
                "user": {
                    "name": request.user.name,
                    "login": request.user.login,
                    "password": request.user.password.reveal(),
                },
                "approve": request.approve,
            }
        )
        try:
            done = run_command(
                self._command, cwd=self._cwd, stdin=asked.encode(), timeout_s=TIMEOUT_S, limit=_LONGEST_ANSWER
            )
        except CommandFailed as error:
            raise SignInFailed(f"the sign-in command: {error}") from None
        if done.exit_code != 0:
            raise SignInFailed(f"the sign-in command: {exit_text(done.exit_code)}")
        return landing_at(request, _redirected_to(done.stdout))


def _redirected_to(stdout: bytes) -> str | None:
    try:
        answer = json.loads(stdout.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise SignInFailed("the sign-in command printed no JSON") from None
    url = answer.get("redirected_to", "") if isinstance(answer, dict) else ""
    if url is None or (isinstance(url, str) and url):
        return url
    raise SignInFailed("the sign-in command printed no object with a redirected_to that is a URL or null")
