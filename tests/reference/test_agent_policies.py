"""The reference agent's decisions, one by one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gateproof.reference.agent.policy import authorization, discovery, exchange, registration
from gateproof.reference.agent.policy.authorization import Attempt
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.settings import Settings, read_settings
from gateproof.reference.agent.state import State
from gateproof.reference.agent.wire import Answer, Failed, may_ask, with_query

ENDPOINTS = Endpoints(
    authorization_server="https://gateway.example/res_1",
    issuer="https://core.example",
    registration="https://gateway.example/new",
    authorization="https://gateway.example/ask",
    token="https://core.example/change",
)
ATTEMPT = Attempt(verifier="dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", state="s~1")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        service_url="https://orders.example",
        state_dir=tmp_path,
        callback_url="https://127.0.0.1:9/callback",
        scopes=("orders:read",),
        tls_cert_file="",
        tls_key_file="",
    )


@pytest.mark.parametrize(
    "value",
    [
        'Bearer resource_metadata="https://orders.example/about"',
        "Bearer resource_metadata=https://orders.example/about",
        'bearer error="x", Resource_Metadata = "https://orders.example/about", scope="a"',
    ],
)
def test_pointer_is_read(value: str) -> None:
    assert discovery.metadata_url(["Basic", value], "") == "https://orders.example/about"


def test_challenge_without_a_pointer_ends_the_run() -> None:
    with pytest.raises(Failed):
        discovery.metadata_url(["Bearer"], "")


@pytest.mark.parametrize(
    ("resource", "is_it"),
    [
        ("https://orders.example", True),
        ("https://orders.example/", True),
        ("https://orders.example.thief.example", False),
        ("https://thief.example", False),
        (None, False),
    ],
)
def test_metadata_are_about_the_service(resource: object, is_it: bool) -> None:
    assert discovery.is_about({"resource": resource}, "https://orders.example") is is_it


def test_document_without_an_endpoint_ends_the_run() -> None:
    with pytest.raises(Failed):
        discovery.endpoints("https://gateway.example", {"issuer": "x", "token_endpoint": "y"})


def test_challenge_is_the_one_of_rfc_7636() -> None:
    assert authorization.challenge_of(ATTEMPT.verifier) == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def test_verifier_and_state_are_apart() -> None:
    drawn = iter([b"\x01" * 32, b"\x02" * 16])
    attempt = authorization.fresh_attempt(lambda count: next(drawn)[:count])
    assert (len(attempt.verifier), len(attempt.state)) == (43, 22)
    assert attempt.state not in attempt.verifier


def test_spaces_are_percent_20(settings: Settings) -> None:
    client = Client(client_id="a", client_secret="b")
    parameters = authorization.authorization_parameters(settings, client, ATTEMPT)
    url = authorization.authorization_url(ENDPOINTS, parameters)
    assert "scope=openid%20orders%3Aread" in url
    assert "+" not in url
    assert with_query("https://a.example/?x=1", {"y": "2"}) == "https://a.example/?x=1&y=2"


@pytest.mark.parametrize(
    ("states", "is_it"),
    [(["s~1"], True), (["s~2"], False), ([], False), (["s~1", "s~1"], False), ([""], False)],
)
def test_redirect_is_ours_by_its_state(states: list[str], is_it: bool) -> None:
    assert authorization.is_ours({"state": states}, ATTEMPT) is is_it


def test_code_comes_from_the_issuer_that_was_asked() -> None:
    assert authorization.code_in({"code": ["c"], "iss": ["https://core.example"]}, ENDPOINTS) == "c"
    for query in (
        {"code": ["c"], "iss": ["https://thief.example"]},
        {"error": ["access_denied"]},
        {"code": [""]},
    ):
        with pytest.raises(Failed):
            authorization.code_in(query, ENDPOINTS)


def test_only_invalid_grant_starts_over() -> None:
    refused = Answer(status=400, body=b'{"error": "invalid_grant"}')
    assert exchange.starts_over(refused)
    assert not exchange.starts_over(Answer(status=401, body=b'{"error": "invalid_client"}'))
    assert exchange.tokens_in(Answer(status=200, body=b"[]")) is None


def test_registration_asks_for_no_scopes(settings: Settings) -> None:
    record = registration.registration_record(settings)
    assert "scope" not in record
    assert record["token_endpoint_auth_method"] == "client_secret_post"
    with pytest.raises(Failed):
        registration.registered(Answer(status=201, body=b'{"client_id": "a"}'))


def test_client_is_kept_for_its_own_server(tmp_path: Path) -> None:
    state = State(tmp_path / "state")
    state.keep_client("https://one.example", Client(client_id="a", client_secret="b"))
    state.keep_tokens("https://orders.example", {"access_token": "t"})

    assert state.client("https://one.example") == Client(client_id="a", client_secret="b")
    assert state.client("https://other.example") is None
    assert (tmp_path / "state" / "clients.json").stat().st_mode & 0o077 == 0
    (tmp_path / "state" / "clients.json").write_text(json.dumps({"https://one.example": {"x": 1}}))
    assert state.client("https://one.example") is None
    state.forget_tokens("https://orders.example")
    assert state.tokens("https://orders.example") is None


def test_environment_that_lacks_something_is_named() -> None:
    with pytest.raises(Failed, match="GATEPROOF_STATE_DIR"):
        read_settings({"GATEPROOF_SERVICE_URL": "https://orders.example"})


def test_plain_http_is_not_asked() -> None:
    assert may_ask("https://orders.example")
    assert not may_ask("http://orders.example")
