"""The control endpoint of the honest gateway."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from gateproof.reference.gateway.apps import control_app, create_apps
from gateproof.reference.gateway.merchants import connect

CONTROL = "http://127.0.0.1:8445/control"


def test_it_describes_itself(party: Any) -> None:
    party.control("advance_clock", seconds=90)
    described = party.control("describe")

    assert described["clock_offset_s"] == 90
    assert {"create_project", "rotate_keys", "logs", "withhold_redemption_scope"} <= set(described["actions"])
    assert "sign_in" not in described["actions"]


@pytest.mark.parametrize("action", ["sign_in", "unheard_of", None, 7])
def test_an_action_that_it_does_not_have_is_501(party: Any, action: Any) -> None:
    assert party.post(CONTROL, json={"action": action}).status_code == 501


@pytest.mark.parametrize(
    ("members", "complaint"),
    [
        ({"action": "create_project"}, "missing argument: name"),
        ({"action": "create_project", "name": "x", "colour": "red"}, "unknown argument: colour"),
        (
            {"action": "create_project", "name": "x", "agent_policy": "maybe"},
            "agent_policy: expected approve or hold",
        ),
        ({"action": "create_proxy_client", "project_id": "prj_x"}, "project_id: there is no such Project"),
        (
            {"action": "approve_agent", "project_id": "prj_x", "client_id": "y"},
            "project_id: there is no such Project",
        ),
        (
            {"action": "withhold_redemption_scope", "client_id": "y"},
            "client_id: there is no such agent",
        ),
        (
            {"action": "resource_metadata", "project_id": "x", "resource_id": "y"},
            "project_id: there is no such Project",
        ),
        ({"action": "advance_clock", "seconds": -1}, "seconds: expected a number of seconds, 0 or more"),
        ({"action": "advance_clock", "seconds": True}, "seconds: expected a number of seconds, 0 or more"),
    ],
)
def test_wrong_arguments_are_400_and_say_why(party: Any, members: dict[str, Any], complaint: str) -> None:
    answer = party.post(CONTROL, json=members)

    assert answer.status_code == 400
    assert answer.json()["error"] == complaint


def test_a_ca_file_that_is_none_is_noticed_at_once(make_party: Any) -> None:
    party = make_party()
    party.apps.gateway.merchants._connect = connect
    project_id = party.control("create_project", name="shop")["project_id"]
    place = party.merchant.place("gateway") | {"ca_file": "/nowhere/ca.pem"}
    resource = {"indicator": "urn:x", "scopes": ["a"], "merchant": place}
    answer = party.post(CONTROL, json={"action": "create_resource", "project_id": project_id, **resource})

    assert answer.status_code == 400
    assert answer.json()["error"].startswith("merchant.ca_file")


def test_a_deleted_project_takes_everything_along(party: Any) -> None:
    place = party.place()
    token, proxy = party.tokens(place)["access_token"], party.proxy_token(place)
    party.control("delete_project", project_id=place.project_id)

    assert party.redeem(token, proxy, place.indicator).status_code == 401
    assert party.proxy_answer(place).status_code == 401
    assert party.get(f"https://base.test:8443/{place.resource_id}/jwks").status_code == 404
    assert party.apps.gateway.store.vault == {}


def test_web_pages_cannot_drive_it(party: Any) -> None:
    body = b'{"action": "describe"}'
    plain = party.post(CONTROL, content=body, headers={"content-type": "text/plain"})
    rebound = party.post(
        CONTROL, content=body, headers={"content-type": "application/json", "host": "evil.example:8445"}
    )

    assert plain.status_code == 400
    assert rebound.status_code == 403
    assert party.get(CONTROL).status_code == 405


def test_a_token_is_asked_for_when_there_is_one(party: Any) -> None:
    apps = create_apps(base_url="https://base.test", core_url="https://core.test")
    transport = httpx.ASGITransport(app=control_app(apps.gateway, path="/c", token="control-token"))

    async def statuses() -> list[int]:
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:1") as client:
            tried = (
                None,
                "Bearer wrong",
                "Basic control-token",
                "Bearer control-token",
                "bearer control-token",
            )
            return [
                (
                    await client.post(
                        "/c", json={"action": "describe"}, headers={"authorization": given} if given else {}
                    )
                ).status_code
                for given in tried
            ]

    assert party.runner.run(statuses()) == [401, 401, 401, 200, 200]
