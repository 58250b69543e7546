"""An answer that a wrong target file explains is met with a question about the key that may be wrong."""

import pytest

from gateproof.conformance.suite.claims import Unmet
from gateproof.conformance.targets.doubts import target_file_hint, unreachable
from gateproof.conformance.wire import agent, backend
from gateproof.conformance.wire.exchange import Answer, Exchange
from gateproof.conformance.wire.secret import Secret

BASE, CORE = "https://127.0.0.1:8443", "https://localhost:8444"
INDICATOR = "https://api.merchant.example/v1"
TOKEN = Secret("token", "t")


@pytest.fixture
def target(read, texts):
    return read(texts.gateway + texts.static)


def asked(request, status, expected="status 200"):
    exchange = Exchange(step="step", request=request, answer=Answer(status=status))
    return Unmet(what="step", expected=expected, got=f"status {status}", exchange=exchange)


def redemption(indicator):
    return backend.redemption(BASE, bearer=TOKEN, proxy_token=TOKEN, resource=indicator)


def proxy_token(client_id, secret):
    hidden = Secret("proxy_client_secret", secret)
    return backend.proxy_token(agent.token_endpoint(CORE), client_id, hidden, backend.Spelling())[0]


@pytest.mark.parametrize(
    ("request_", "status", "key"),
    [
        (
            agent.get(agent.discovery_url(BASE, "res_1")),
            404,
            "base_url, or id of [[projects.resources]] res_1",
        ),
        (agent.get(agent.discovery_url(BASE, "res_2")), 404, "base_url"),
        (agent.registration(agent.registration_endpoint(BASE), {}), 405, "base_url"),
        (agent.form_post(agent.token_endpoint(CORE), []), 404, "core_url"),
        (agent.get("https://127.0.0.1:8443/res_1/jwks?x=1"), 404, "jwks_uri of [[projects.resources]] res_1"),
        (redemption(INDICATOR), 404, "indicator of [[projects.resources]] res_1"),
        (proxy_token("proxy_1", "proxy-s3cret"), 401, "proxy_1, or its secret in $PROXY_1_SECRET"),
    ],
)
def test_key_is_named(target, request_, status, key):
    question = target_file_hint(target, asked(request_, status))

    assert key in question
    assert question.endswith("wrong in acme.toml?")
    assert "s3cret" not in question


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (agent.get(agent.discovery_url(BASE, "res_1")), 500),
        (agent.get(agent.authorization_endpoint(BASE, "res_1")), 404),
        (redemption(INDICATOR + "/"), 404),
        (redemption(INDICATOR), 401),
        (proxy_token("proxy_1", "another"), 401),
        (proxy_token("proxy_1", "proxy-s3cret"), 500),
    ],
)
def test_nothing_is_asked_about_an_answer_that_the_file_does_not_explain(target, request_, status):
    assert target_file_hint(target, asked(request_, status)) == ""


def test_merchant_token_that_a_check_took_away_is_no_reason_to_doubt_the_indicator(target):
    assert target_file_hint(target, asked(redemption(INDICATOR), 404, expected="status 410")) == ""


@pytest.mark.parametrize(
    ("expected", "key"),
    [
        (f"{INDICATOR} in it, unchanged", "indicator of [[projects.resources]] res_1"),
        (f"{CORE}/oauth2/token", "core_url"),
        (f"{BASE}/res_1/oauth2/auth", "base_url"),
    ],
)
def test_key_whose_value_was_expected_is_named(target, expected, key):
    broken = Unmet(what="aud", expected=expected, got="something else")

    assert target_file_hint(target, broken) == f"or is {key} wrong in acme.toml?"


@pytest.mark.parametrize(
    ("failure", "ca", "step"),
    [
        ("the connection was refused", "", "is it running, and is core_url right in acme.toml?"),
        ("the certificate was refused: x", "", "name its CA as ca_file of [target] in acme.toml"),
        ("the certificate was refused: x", 'ca_file = "ca.pem"\n', "is ca_file right in acme.toml"),
        ("the TLS handshake failed: x", "", "does it speak https there, as core_url in acme.toml says?"),
    ],
)
def test_target_that_cannot_be_reached_gets_a_next_step(read, texts, tmp_path, failure, ca, step):
    (tmp_path / "ca.pem").write_text("-----BEGIN CERTIFICATE-----\n")

    assert unreachable(read(texts.gateway + ca), "core_url", failure) == step
