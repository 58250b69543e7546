"""How a user signs in at a gateway under test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.signin.command import CommandSignIn
from conformance.signin.control import ControlSignIn
from conformance.signin.forms import FormsSignIn
from conformance.signin.manual import ManualSignIn
from conformance.target.errors import TargetError

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.signin.browser import Send
    from conformance.signin.landing import SignIn
    from conformance.target.control import ControlPlane
    from conformance.target.model import GatewayTarget

__all__ = ["make"]


def make(
    target: GatewayTarget,
    *,
    send: Send,
    may_visit: Callable[[str], bool],
    control: ControlPlane | None = None,
) -> SignIn:
    """The way to sign in that the target file asks for."""
    how = target.sign_in
    match how.kind:
        case "forms":
            return FormsSignIn(send=send, may_visit=may_visit, steps=how.steps)
        case "control" if control is not None:
            return ControlSignIn(control)
        case "command" if how.command is not None:
            return CommandSignIn(how.command, cwd=how.cwd)
        case "manual":
            return ManualSignIn()
        case _:
            expected = "'forms', 'control' with a [control] table, 'command' with a command, or 'manual'"
            hint = "chromium is not in this version" if how.kind == "chromium" else ""
            raise TargetError(str(target.file), "[sign_in] kind", f"'{how.kind}'", expected, hint=hint)
