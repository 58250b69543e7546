"""What the honest gateway registers, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

BASE = "https://base.test:8443"


def test_the_answer_is_the_whole_record(party: Any) -> None:
    uris = ["https://agent.example/z?tenant=1", "https://Agent.example:443/a", "https://agent.example"]
    answer = party.register(redirect_uris=uris, application_type="web", scope="openid")

    assert answer.status_code == 201
    record = answer.json()
    assert record["redirect_uris"] == uris
    assert record["client_secret_expires_at"] == 0
    assert record["client_secret_expires_at"] is not False
    assert record["token_endpoint_auth_method"] == "client_secret_post"
    assert record["verification_method"] == "none"
    assert answer.headers["cache-control"] == "no-store"


def test_every_registration_is_a_client_of_its_own(party: Any) -> None:
    agents = [party.agent() for _ in range(3)]

    assert len({agent["client_id"] for agent in agents}) == 3
    assert len({agent["client_secret"] for agent in agents}) == 3


@pytest.mark.parametrize(
    "uri",
    [
        "http://agent.example/cb",
        "HTTP://agent.example/cb",
        "http://127.0.0.1/cb",
        "agent://cb",
        "javascript:alert(1)//https://x",
        "data:text/html,x",
        "//agent.example/cb",
        "agent.example/cb",
        "https:///cb",
        "https:cb",
        "https://user@agent.example/cb",
        "https://agent.example/cb#part",
        "https://agent.example/c b",
        "https://agent.example/\tcb",
        "https://agent.example/\n",
        "https://agent.example/ü",
        "https://agent.example:x/cb",
        "https://[agent.example/cb",
        "https://agent.example\\@evil.example/",
        "",
    ],
)
def test_only_plain_https_redirect_uris_are_registered(party: Any, uri: str) -> None:
    for uris in ([uri], ["https://agent.example/cb", uri]):
        answer = party.register(redirect_uris=uris)
        assert answer.status_code == 400
        assert answer.json()["error"] == "invalid_redirect_uri"
    assert party.apps.gateway.store.agents == {}


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ({"token_endpoint_auth_method": "client_secret_basic"}, "invalid_client_metadata"),
        ({"token_endpoint_auth_method": "none"}, "invalid_client_metadata"),
        ({"token_endpoint_auth_method": ["client_secret_post"]}, "invalid_client_metadata"),
        ({"grant_types": ["refresh_token"]}, "invalid_client_metadata"),
        ({"grant_types": ["implicit", "authorization_code"]}, "invalid_client_metadata"),
        ({"grant_types": [{}]}, "invalid_client_metadata"),
        ({"response_types": ["token"]}, "invalid_client_metadata"),
        ({"client_name": 7}, "invalid_client_metadata"),
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": None}, "invalid_redirect_uri"),
        ({"redirect_uris": "https://agent.example/cb"}, "invalid_redirect_uri"),
        ({"redirect_uris": [7]}, "invalid_redirect_uri"),
    ],
)
def test_wrong_metadata_is_refused(party: Any, metadata: dict[str, Any], error: str) -> None:
    answer = party.register(**metadata)

    assert (answer.status_code, answer.json()["error"]) == (400, error)


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"{", b"\xff", b"[" * 40_000, b"1" * 5000])
def test_a_body_that_is_no_object_is_refused(party: Any, body: bytes) -> None:
    answer = party.post(f"{BASE}/api/register", content=body, headers={"content-type": "application/json"})

    assert answer.status_code == 400


def test_a_body_beyond_all_measure_is_refused(party: Any) -> None:
    answer = party.post(f"{BASE}/api/register", json={"client_name": "x" * 70_000})

    assert answer.status_code == 413


def test_the_least_that_an_agent_has_to_say(party: Any) -> None:
    answer = party.post(f"{BASE}/api/register", json={"redirect_uris": ["https://agent.example/cb"]})

    assert answer.status_code == 201
    assert answer.json()["client_name"] == "agent.example"
    assert answer.json()["token_endpoint_auth_method"] == "client_secret_post"


def test_a_name_that_utf_8_cannot_say_breaks_nothing(party: Any) -> None:
    answer = party.post(
        f"{BASE}/api/register",
        content=b'{"client_name": "\\ud800<b>", "redirect_uris": ["https://agent.example/cb"]}',
        headers={"content-type": "application/json"},
    )
    page = party.page(party.authorization_url(party.place(), answer.json()))

    assert answer.status_code == 201
    assert page.status_code == 200
    assert "&lt;b&gt;" in page.text
    assert "<b>" not in page.text


def test_the_secret_works_ten_years_later(party: Any) -> None:
    place, agent = party.place(), party.agent()
    party.clock.advance(10 * 366 * 86400)

    assert party.exchange(agent, party.code(place, agent)).status_code == 200
