"""Sign-in by the control action sign_in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateproof.conformance.signin.sign_in_result import SignInRequest, SignInResult, landing_at
from gateproof.conformance.targets import actions

if TYPE_CHECKING:
    from gateproof.conformance.targets.control import ControlPlane


class ControlSignIn:
    """Signs users in with the target's control API."""

    def __init__(self, control: ControlPlane) -> None:
        self._control = control

    def sign_in(self, request: SignInRequest, /) -> SignInResult:
        url = actions.sign_in(
            self._control,
            authorization_url=request.authorization_url,
            redirect_uri=request.redirect_uri,
            user={
                "name": request.user.name,
                "login": request.user.login,
                "password": request.user.password.reveal(),
            },
            approve=request.approve,
        )
        return landing_at(request, url)
