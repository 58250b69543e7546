"""Redemption at the honest gateway."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import httpx
import jwt
import pytest


def error_of(answer: httpx.Response) -> tuple[int, str]:
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-type"] == "application/json"
    return answer.status_code, answer.json()["error"]


def test_both_headers_are_required(party: Any) -> None:
    place = party.place()
    token, proxy = party.tokens(place)["access_token"], party.proxy_token(place)

    for bearer, backend in ((None, proxy), (token, None), (None, None), (token, " ")):
        assert error_of(party.redeem(bearer, backend, place.indicator)) == (400, "invalid_request")


def test_the_scheme_is_bearer_in_any_case(party: Any) -> None:
    place = party.place()
    token, proxy = party.tokens(place)["access_token"], party.proxy_token(place)
    for scheme, status in (("bearer", 200), ("BEARER", 200), ("Basic", 401), ("Bearer:", 401)):
        request = party.redemption(token, proxy, place.indicator)
        request.headers["authorization"] = f"{scheme} {token}"
        assert party.send(request)[0].status_code == status


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{}", b'{"resource": null}', b'{"resource": 7}', b'{"resource": ["x"]}', b"{", b"\xff"],
)
def test_the_body_has_to_name_a_resource(party: Any, body: bytes) -> None:
    place = party.place()
    request = party.redemption(
        party.tokens(place)["access_token"], party.proxy_token(place), None, json=None, content=body
    )
    request.headers["content-type"] = "application/json"

    assert error_of(party.send(request)[0]) == (400, "invalid_request")


def test_both_have_to_be_of_one_project(party: Any) -> None:
    home, abroad = party.place(), party.place()
    token = party.tokens(home)["access_token"]

    assert error_of(party.redeem(token, party.proxy_token(abroad), home.indicator))[0] == 401


def test_the_indicator_has_to_match_to_the_letter(party: Any) -> None:
    place = party.place()
    sibling = party.place(project_id=place.project_id, indicator="https://api.merchant.test/v2")
    token, proxy = party.tokens(place)["access_token"], party.proxy_token(place)
    near_misses = [place.indicator + "/", place.indicator.upper(), place.indicator[:-1], place.resource_id]
    near_misses += [f" {place.indicator}", f"{place.indicator}\n", "", "\ud800", sibling.indicator]

    for indicator in near_misses:
        content = json.dumps({"resource": indicator}).encode()
        request = party.redemption(token, proxy, None, json=None, content=content)
        request.headers["content-type"] = "application/json"
        assert error_of(party.send(request)[0]) == (404, "resource_not_found")


def test_only_access_tokens_of_the_gateway_redeem(party: Any) -> None:
    place = party.place()
    tokens, proxy = party.tokens(place), party.proxy_token(place)
    access = tokens["access_token"]
    head, payload, signature = access.split(".")
    claims = jwt.decode(access, options={"verify_signature": False})
    unsigned = jwt.encode(claims, "", algorithm="none", headers={"typ": "at+jwt"})
    foreign = party.merchant.signed(claims)
    assertion = party.merchant.asked_for("urn:ietf:params:oauth:grant-type:jwt-bearer")[0]["assertion"]
    altered = f"{head}.{payload}.{'A' if signature[0] != 'A' else 'B'}{signature[1:]}"
    not_json = base64.urlsafe_b64encode(b"[]").decode()
    bad = [tokens["id_token"], tokens["refresh_token"], unsigned, foreign, assertion, altered, proxy]
    bad += [f"{head}.{payload}.", "x", "..", f"{not_json}.{payload}.{signature}", "a.b.c.d.e"]

    for token in bad:
        assert error_of(party.redeem(token, proxy, place.indicator)) == (401, "invalid_token")


def test_a_proxy_token_has_to_be_one_of_ours(party: Any) -> None:
    place = party.place()
    tokens, proxy = party.tokens(place), party.proxy_token(place)

    for token in (proxy + "x", f"Bearer {proxy}", "x", tokens["access_token"], tokens["refresh_token"]):
        assert error_of(party.redeem(tokens["access_token"], token, place.indicator))[0] == 401


def test_a_proxy_token_serves_for_an_hour(party: Any) -> None:
    place, agent = party.place(), party.agent()
    proxy = party.proxy_token(place)
    party.clock.advance(3598)
    late = party.tokens(place, agent)["access_token"]
    assert party.redeem(late, proxy, place.indicator).status_code == 200
    party.clock.advance(2)

    assert error_of(party.redeem(late, proxy, place.indicator))[0] == 401


def test_an_expired_access_token_is_refused(party: Any) -> None:
    place = party.place()
    token = party.tokens(place)["access_token"]
    party.clock.advance(3600)

    assert error_of(party.redeem(token, party.proxy_token(place), place.indicator))[0] == 401


def test_revocation_reaches_tokens_already_issued(party: Any) -> None:
    place = party.place()
    token, proxy = party.tokens(place)["access_token"], party.proxy_token(place)
    party.control("revoke_proxy_client", project_id=place.project_id, client_id=place.proxy[0])

    assert error_of(party.redeem(token, proxy, place.indicator))[0] == 401


def test_revocation_reaches_a_redemption_under_way(party: Any) -> None:
    place = party.place()
    token, proxy = party.tokens(place)["access_token"], party.proxy_token(place)
    party.clock.advance(3550)

    async def revoked_while_refreshing() -> httpx.Response:
        party.merchant.before_refresh = asyncio.Event()
        under_way = asyncio.create_task(party.client.send(party.redemption(token, proxy, place.indicator)))
        await party.merchant.refresh_came.wait()
        action = {
            "action": "revoke_proxy_client",
            "project_id": place.project_id,
            "client_id": place.proxy[0],
        }
        await party.client.post("http://127.0.0.1:8445/control", json=action)
        party.merchant.before_refresh.set()
        return await under_way

    assert error_of(party.runner.run(asyncio.wait_for(revoked_while_refreshing(), 10)))[0] == 401


def test_a_token_without_the_scope_is_refused(party: Any) -> None:
    place, agent = party.place(), party.agent()
    party.control("withhold_redemption_scope", client_id=agent["client_id"])
    tokens = party.tokens(place, agent, scope="openid orders:read ext_token:read")

    assert tokens["scope"] == "openid orders:read"
    answer = party.redeem(tokens["access_token"], party.proxy_token(place), place.indicator)
    assert error_of(answer) == (401, "insufficient_scope")


def test_everybody_gets_their_own(party: Any) -> None:
    place, elsewhere = party.place(), party.place()
    sibling = party.place(project_id=place.project_id, indicator="https://api.merchant.test/v2")
    expected = {}
    requests = []
    for spot in (place, sibling, elsewhere):
        for user in ("alice@merchant.example", "bob@merchant.example"):
            token, proxy = party.tokens(spot, user=user)["access_token"], party.proxy_token(spot)
            expected[token] = party.redeem(token, proxy, spot.indicator).json()["access_token"]
            assert user in expected[token]
            requests += [party.redemption(token, proxy, spot.indicator)] * 5
    answers = party.send(*requests)

    assert len(set(expected.values())) == 6
    for request, answer in zip(requests, answers, strict=True):
        bearer = request.headers["authorization"].removeprefix("Bearer ")
        assert answer.json()["access_token"] == expected[bearer]
