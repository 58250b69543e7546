"""Creates the sign-in method for a gateway under test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateproof.conformance.signin.chromium.finding import missing
from gateproof.conformance.signin.command import CommandSignIn
from gateproof.conformance.signin.control import ControlSignIn
from gateproof.conformance.signin.forms import FormsSignIn
from gateproof.conformance.signin.manual import ManualSignIn
from gateproof.conformance.targets.errors import TargetError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateproof.conformance.signin.browser import Send
    from gateproof.conformance.signin.picturing import Picturing
    from gateproof.conformance.signin.sign_in_result import SignIn
    from gateproof.conformance.targets.control import ControlPlane
    from gateproof.conformance.targets.model import GatewayTarget

__all__ = ["check_usable", "make"]


def make(
    target: GatewayTarget,
    *,
    send: Send,
    may_visit: Callable[[str], bool],
    control: ControlPlane | None = None,
    picturing: Picturing | None = None,
) -> SignIn:
    """Creates the sign-in method that the target file selects."""
    how = target.sign_in
    match how.kind:
        case "forms":
            return FormsSignIn(send=send, may_visit=may_visit, steps=how.steps)
        case "chromium":
            # Playwright is optional, so it is imported only when needed.
            from gateproof.conformance.signin.chromium.sign_in import ChromiumSignIn  # noqa: PLC0415

            return ChromiumSignIn(send=send, may_visit=may_visit, steps=how.steps, picturing=picturing)
        case "control" if control is not None:
            return ControlSignIn(control)
        case "command" if how.command is not None:
            return CommandSignIn(how.command, cwd=how.cwd)
        case "manual":
            return ManualSignIn()
        case _:
            raise unusable(target)


def check_usable(target: GatewayTarget) -> None:
    """Rejects a target file whose sign-in method is incomplete or not installed."""
    how = target.sign_in
    if how.kind == "chromium":
        if lacking := missing():
            raise TargetError(
                str(target.file), "[sign_in] kind", "'chromium'", "a Chromium here", hint=lacking
            )
        return
    described = {"control": target.control is not None, "command": how.command is not None}
    if how.kind not in {"forms", "manual"} and not described.get(how.kind, False):
        raise unusable(target)


def unusable(target: GatewayTarget) -> TargetError:
    """An error that lists the possible values."""
    expected = "'forms', 'chromium', 'control' with a [control] table, 'command' with a command, or 'manual'"
    return TargetError(str(target.file), "[sign_in] kind", f"'{target.sign_in.kind}'", expected)
