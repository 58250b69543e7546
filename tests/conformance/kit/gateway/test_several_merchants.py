"""Resources at another merchant: made where the control takes them, left out where it refuses them."""

from __future__ import annotations

from typing import Any

import pytest

from gateproof.conformance.kit.gateway.merchant_site import MerchantSite
from gateproof.conformance.kit.gateway.project_pool import ControlledProjects
from gateproof.conformance.suite.claims import LeftOut, Unavailable
from gateproof.conformance.targets.control import Refused

FIRST = {"issuer": "https://first.test", "token_endpoint": "https://first.test/token"}
OTHER = {"issuer": "https://other.test", "token_endpoint": "https://other.test/token"}


class Control:
    """Takes Resources at the first merchant, and at others unless it is told to refuse them."""

    def __init__(self, *, refuses: bool) -> None:
        self._refuses = refuses
        self.merchants: list[str] = []

    def call(self, action: str, /, **arguments: Any) -> dict[str, Any]:
        if action == "create_resource":
            issuer = arguments["merchant"]["issuer"]
            if self._refuses and issuer != FIRST["issuer"]:
                raise Refused(action, "one merchant is enough")
            self.merchants.append(issuer)
        number = len(self.merchants)
        return {
            "project_id": f"prj_{number}",
            "resource_id": f"res_{number}",
            "jwks_uri": f"https://gateway.test/{number}/jwks",
            "client_id": f"proxy_{number}",
            "client_secret": "secret-of-a-proxy-client",
        }


class Admin:
    """The admin API of a merchant, as far as a Resource is concerned."""

    def __init__(self) -> None:
        self.clients: list[str] = []

    def register_client(self, client_id: str, **_more: Any) -> None:
        self.clients.append(client_id)

    def set_jwks_uri(self, client_id: str, uri: str) -> None:
        assert client_id in self.clients
        assert uri


def pool(control: Control, first: Any) -> ControlledProjects:
    return ControlledProjects(control, first, FIRST, None, "run")


def test_resource_at_another_merchant_is_known_there_and_not_at_the_first() -> None:
    control, first, admin = Control(refuses=False), Admin(), Admin()
    site: Any = MerchantSite(admin=admin, endpoints=OTHER)  # type: ignore[arg-type]
    made = pool(control, first)
    home = made.home()
    beside = made.project_at(site, "gateway-at-the-other", home)
    alone = made.project_at(site, "gateway-once-more", None)
    assert control.merchants == [FIRST["issuer"], OTHER["issuer"], OTHER["issuer"]]
    assert admin.clients == ["gateway-at-the-other", "gateway-once-more"]
    assert first.clients == [home.resource.merchant_client_id]
    assert (beside.id, beside.proxy_client) == (home.id, home.proxy_client)
    assert alone.resource.merchant_client_id == "gateway-once-more"
    assert site.addresses() == {"https://other.test", "https://other.test/token"}


def test_merchant_that_the_control_refuses_is_left_out_with_its_reason() -> None:
    site: Any = MerchantSite(admin=Admin(), endpoints=OTHER)  # type: ignore[arg-type]
    with pytest.raises(LeftOut, match="one merchant is enough"):
        pool(Control(refuses=True), Admin()).project_at(site, "gateway-at-the-other", None)


def test_key_set_out_of_reach_is_told_to_no_merchant() -> None:
    first: Any = Admin()
    made = ControlledProjects(Control(refuses=False), first, FIRST, None, "run", may_reach=lambda _: False)

    with pytest.raises(Unavailable, match=r"\[target\] origins = "):
        made.home()
