"""Creates the control plane from the settings in a target file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateproof.conformance.targets.control import CommandControl, HttpControl

if TYPE_CHECKING:
    from gateproof.conformance.targets.model import Control


def connect_control(control: Control) -> HttpControl | CommandControl:
    """The control plane of a target; nothing is sent before the first action."""
    if control.url is not None:
        return HttpControl(control.url, token=control.token, ca_file=control.ca_file)
    if control.command is None:
        raise ValueError("a control has an address or a command")
    return CommandControl(control.command, cwd=control.cwd)
