"""The honest gateway from discovery to the merchant token."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import jwt
import pytest

from gateproof.reference.gateway.apps import create_apps
from gateproof.reference.gateway.policies import Policies

BASE, CORE = "https://base.test:8443", "https://core.test:8444"


def claims_of(token: str) -> dict[str, Any]:
    return jwt.decode(token, options={"verify_signature": False})


def core_key(party: Any, token: str) -> Any:
    kid = jwt.get_unverified_header(token)["kid"]
    keys = party.get(f"{CORE}/jwks").json()["keys"]
    return jwt.PyJWK(next(key for key in keys if key["kid"] == kid)).key


def test_discovery_names_the_core_for_every_resource(party: Any) -> None:
    one, other = party.place(), party.place()
    documents = [
        party.get(f"{BASE}/{place.resource_id}/.well-known/openid-configuration").json()
        for place in (one, other)
    ]

    assert [document["issuer"] for document in documents] == [CORE, CORE]
    assert documents[0]["authorization_endpoint"] == f"{BASE}/{one.resource_id}/oauth2/auth"
    assert documents[1]["authorization_endpoint"] == f"{BASE}/{other.resource_id}/oauth2/auth"
    assert {document["token_endpoint"] for document in documents} == {f"{CORE}/oauth2/token"}
    assert {document["jwks_uri"] for document in documents} == {f"{CORE}/jwks"}
    assert {document["registration_endpoint"] for document in documents} == {f"{BASE}/api/register"}


def test_the_same_document_stands_where_rfc_8414_looks(party: Any) -> None:
    place = party.place()
    usual = party.get(f"{BASE}/{place.resource_id}/.well-known/openid-configuration").json()

    for name in ("oauth-authorization-server", "openid-configuration"):
        assert party.get(f"{BASE}/.well-known/{name}/{place.resource_id}").json() == usual


@pytest.mark.parametrize("path", [".well-known/openid-configuration", "jwks", "oauth2/auth"])
def test_an_unknown_resource_has_nothing(party: Any, path: str) -> None:
    assert party.get(f"{BASE}/res_unknown/{path}").status_code == 404


def test_the_whole_sequence_ends_with_the_users_merchant_token(party: Any) -> None:
    place, agent = party.place(), party.agent()
    tokens = party.tokens(place, agent)
    answer = party.redeem(tokens["access_token"], party.proxy_token(place), place.indicator)

    assert answer.status_code == 200
    assert answer.json()["access_token"].startswith("mat.alice@merchant.example.")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", answer.json()["expires_at"])
    assert answer.headers["cache-control"] == "no-store"
    assert set(answer.json()) == {"access_token", "expires_at"}


def test_the_access_token_says_what_the_specification_says(party: Any) -> None:
    place, agent = party.place(), party.agent(client_name="Shopper")
    tokens = party.tokens(place, agent)
    access = tokens["access_token"]
    claims = jwt.decode(access, core_key(party, access), algorithms=["ES256"], audience=place.indicator)

    assert claims["iss"] == CORE
    assert claims["aud"] == [place.indicator]
    assert claims["sub"].startswith("sub_")
    assert "alice" not in json.dumps(claims)
    assert claims["scope"] == tokens["scope"] == "openid orders:read ext_token:read"
    assert claims["ext"]["acr"].endswith(":al2")
    assert claims["ext"]["project_id"] == place.project_id
    assert claims["ext"]["agent"] == {
        "client_id": agent["client_id"],
        "domain": "agent.example",
        "name": "Shopper",
        "verifications": [],
    }
    assert jwt.get_unverified_header(access)["typ"] == "at+jwt"


def test_the_id_token_is_for_the_agent(party: Any) -> None:
    place, agent = party.place(), party.agent()
    tokens = party.tokens(place, agent, nonce="n-1")
    token = tokens["id_token"]
    claims = jwt.decode(token, core_key(party, token), algorithms=["ES256"], audience=agent["client_id"])

    assert claims["email"] == claims["preferred_username"] == "alice@merchant.example"
    assert claims["nonce"] == "n-1"
    assert tokens["refresh_token"].count(".") == 0


def test_sub_is_stable_in_a_project_and_a_stranger_in_the_next(party: Any) -> None:
    place = party.place()
    sub, again = (claims_of(party.tokens(place)["access_token"])["sub"] for _ in range(2))
    bob = claims_of(party.tokens(place, user="bob@merchant.example")["access_token"])["sub"]
    elsewhere = claims_of(party.tokens(party.place(), user="alice@merchant.example")["access_token"])["sub"]

    assert sub == again
    assert len({sub, bob, elsewhere}) == 3


def test_what_the_gateway_asserts_is_signed_by_the_resources_own_key(party: Any) -> None:
    place, agent = party.place(), party.agent()
    party.tokens(place, agent)
    (asked,) = party.merchant.asked_for("urn:ietf:params:oauth:grant-type:jwt-bearer")
    keys = party.get(f"{BASE}/{place.resource_id}/jwks").json()["keys"]
    key = jwt.PyJWK(keys[0]).key

    for name in ("assertion", "client_assertion"):
        jwt.decode(asked[name], key, algorithms=["ES256"], audience="https://merchant.test/token")
    assertion = claims_of(asked["assertion"])
    assert assertion["sub"] == "alice@merchant.example"
    assert assertion["act"]["client_id"] == agent["client_id"]
    with pytest.raises(StopIteration):
        core_key(party, asked["assertion"])


def test_key_sets_hold_nothing_private(party: Any) -> None:
    place = party.place()
    for url in (f"{CORE}/jwks", f"{BASE}/{place.resource_id}/jwks"):
        (key,) = party.get(url).json()["keys"]
        assert set(key) == {"kty", "crv", "x", "y", "kid", "use", "alg"}


def test_tokens_outlive_a_rotation_of_the_key_that_signed_them(party: Any) -> None:
    place = party.place()
    before = party.tokens(place)["access_token"]
    party.control("rotate_keys")
    after = party.tokens(place)["access_token"]

    for token in (before, after):
        core_key(party, token)
        assert party.redeem(token, party.proxy_token(place), place.indicator).status_code == 200
    assert len(party.get(f"{CORE}/jwks").json()["keys"]) == 2
    party.clock.advance(3601)
    assert len(party.get(f"{CORE}/jwks").json()["keys"]) == 1


def test_a_shared_origin_serves_base_and_core() -> None:
    apps = create_apps(base_url="https://one.test/gw", core_url="https://one.test/core")
    paths = {route.path for route in apps.base._app.routes}

    assert {"/core/oauth2/token", "/core/jwks", "/gw/api/register", "/gw/{resource_id}/oauth2/auth"} <= paths


def test_the_log_knows_requests_and_no_secrets(party: Any) -> None:
    place, agent = party.place(), party.agent()
    code = party.code(place, agent)
    tokens = party.exchange(agent, code).json()
    proxy = party.proxy_token(place)
    merchant_token = party.redeem(tokens["access_token"], proxy, place.indicator).json()["access_token"]
    party.get(f"{BASE}/{tokens['access_token']}/jwks")
    party.get(f"{BASE}/x/{code}")
    text = party.control("logs")["text"]

    assert "POST /api/register 201" in text
    assert f"GET /{place.resource_id}/oauth2/auth 302" in text
    assert f"provisioning for {place.resource_id}: accepted" in text
    secrets = [
        agent["client_secret"],
        code,
        proxy,
        place.proxy[1],
        merchant_token,
        *party.merchant.refresh_tokens,
    ]
    secrets += [tokens[name] for name in ("access_token", "id_token", "refresh_token")]
    assert not [secret for secret in secrets if secret in text]
    assert party.control("logs")["text"] == ""


def test_no_answer_holds_the_merchants_refresh_token(party: Any) -> None:
    place = party.place()
    tokens = party.tokens(place)
    answer = party.redeem(tokens["access_token"], party.proxy_token(place), place.indicator)
    (refresh_token,) = party.merchant.refresh_tokens

    assert refresh_token not in answer.text
    assert refresh_token not in json.dumps(tokens)


def test_an_error_that_nobody_expected_tells_nothing(make_party: Any) -> None:
    def broken(facts: object) -> dict[str, Any]:
        raise RuntimeError("a-secret-in-an-exception")

    party = make_party(Policies(discovery_document=broken))
    answer: httpx.Response = party.get(f"{BASE}/{party.place().resource_id}/.well-known/openid-configuration")

    assert answer.status_code == 500
    assert answer.json() == {"error": "server_error"}
    text = party.control("logs")["text"]
    assert "RuntimeError" in text
    assert "a-secret-in-an-exception" not in text
