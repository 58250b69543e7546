"""Creates the control plane from the settings in a target file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateproof.conformance.suite.claims import Unavailable
from gateproof.conformance.targets.control import CommandControl, HttpControl

if TYPE_CHECKING:
    from gateproof.conformance.targets.control import ControlPlane
    from gateproof.conformance.targets.model import Control


def connect_control(control: Control) -> HttpControl | CommandControl:
    """The control plane of a target; nothing is sent before the first action."""
    if control.url is not None:
        return HttpControl(control.url, token=control.token, reach=control.reach)
    if control.command is None:
        raise ValueError("a control has an address or a command")
    return CommandControl(control.command, cwd=control.cwd)


def control_for(control: ControlPlane | None, action: str) -> ControlPlane:
    """The control plane, for a check that needs this action; raises Unavailable if there is none."""
    if control is None:
        raise Unavailable(f"control:{action}", f"needs the control action {action}")
    return control
