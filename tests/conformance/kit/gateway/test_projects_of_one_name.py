"""Two Projects of one name: made where the control takes them, left out where it refuses the second."""

from __future__ import annotations

from typing import Any

import pytest

from gateproof.conformance.kit.gateway.project_pool import ControlledProjects
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.targets.control import Refused


class Control:
    """Takes every Project, or each name once."""

    def __init__(self, *, names_are_unique: bool) -> None:
        self._unique = names_are_unique
        self.names: list[str] = []

    def call(self, action: str, /, **arguments: Any) -> dict[str, Any]:
        if action == "create_project":
            if self._unique and arguments["name"] in self.names:
                raise Refused(action, "there is a Project of this name")
            self.names.append(arguments["name"])
        number = len(self.names)
        return {
            "project_id": f"prj_{number}",
            "resource_id": f"res_{number}",
            "jwks_uri": f"https://gateway.test/{number}/jwks",
            "client_id": f"proxy_{number}",
            "client_secret": "secret-of-a-proxy-client",
        }


class Admin:
    """The admin API of a merchant that takes every Resource."""

    def register_client(self, client_id: str, **_more: Any) -> None: ...

    def set_jwks_uri(self, client_id: str, uri: str) -> None: ...


def pool(control: Control) -> ControlledProjects:
    admin: Any = Admin()
    return ControlledProjects(control, admin, {}, None, "run")


def test_two_projects_have_the_same_name_and_nothing_else_in_common() -> None:
    control = Control(names_are_unique=False)
    one, other = pool(control).two_with_same_name()
    assert control.names[0] == control.names[1]
    assert one.id != other.id
    assert one.resource.indicator != other.resource.indicator
    assert one.proxy_client.project_id == one.id
    assert other.proxy_client.project_id == other.id


def test_name_that_the_control_takes_once_is_left_out_with_its_reason() -> None:
    with pytest.raises(LeftOut, match="a Project of this name"):
        pool(Control(names_are_unique=True)).two_with_same_name()
