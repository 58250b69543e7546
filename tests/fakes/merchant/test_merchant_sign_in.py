"""The merchant signs users in by the code flow, in every shape that a seed gives it."""

from __future__ import annotations

import string
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jwt
import pytest
from selectolax.lexbor import LexborHTMLParser

ALICE = "alice@merchant.example"
VERIFIER = "v" * 43 + "-._~"


def id_claims(world: Any, token: str) -> dict[str, Any]:
    keys = jwt.PyJWKSet.from_dict(world.get(world.places.jwks_uri).json())
    key = keys[jwt.get_unverified_header(token)["kid"]]
    return dict(jwt.decode(token, key, audience="one", issuer=world.places.issuer))


def test_page_holds_one_form_with_login_password_and_one_button(any_world: Any) -> None:
    page = LexborHTMLParser(any_world.open_form().text)
    (form,) = page.css("form")
    assert str(form.attributes["method"]).lower() == "post"
    assert len(form.css("input[name=username]")) == 1
    assert form.css_first("input[name=password]").attributes["type"].lower() == "password"
    assert len(form.css("button, input[type=submit]")) == 1


def test_right_password_gives_tokens_for_that_user(any_world: Any) -> None:
    answer = any_world.exchange(any_world.code(nonce="n-1")).json()
    claims = id_claims(any_world, answer["id_token"])
    assert claims["sub"] == claims["preferred_username"] == claims["email"] == ALICE
    assert claims["nonce"] == "n-1"
    assert answer["token_type"].lower() == "bearer"
    assert type(answer["expires_in"]) is int
    assert answer["refresh_token"]
    bearer = {"authorization": f"Bearer {answer['access_token']}"}
    info = any_world.get(any_world.places.userinfo_endpoint, headers=bearer).json()
    assert info["sub"] == info["preferred_username"] == info["email"] == ALICE


def test_state_comes_back_byte_for_byte(any_world: Any) -> None:
    for state in (string.punctuation + " ~" + string.ascii_letters, "é\u20ac", "x" * 512):
        assert any_world.landed(any_world.submit(any_world.open_form(state=state)))["state"] == state


def test_state_that_is_no_utf8_comes_back_byte_for_byte(world: Any) -> None:
    query = (
        "response_type=code&client_id=one&redirect_uri=https%3A%2F%2Fgateway.test%2Fcallback&state=%ff%00%2B"
    )
    page = world.get(f"{world.places.authorization_endpoint}?{query}")
    page = world.get(page.headers["location"]) if page.is_redirect else page
    assert "state=%FF%00%2B" in world.submit(page).headers["location"]


def test_query_of_the_redirect_uri_is_kept(world: Any) -> None:
    answer = world.submit(world.open_form(redirect_uri="https://gateway.test/callback?a=b%20c"))
    assert answer.headers["location"].startswith("https://gateway.test/callback?a=b%20c&")


@pytest.mark.parametrize(
    "redirect_uri", ["http://127.0.0.1:9/x", "com.example.app:/back", "https://x.test/a#b"]
)
def test_any_absolute_redirect_uri_without_fragment_is_taken(world: Any, redirect_uri: str) -> None:
    answer = world.open_form(redirect_uri=redirect_uri)
    assert answer.status_code == (400 if "#" in redirect_uri else 200)


def test_authorization_request_may_come_by_post(world: Any) -> None:
    form = {"response_type": "code", "client_id": "one", "redirect_uri": "https://gateway.test/callback"}
    answer = world.post(world.places.authorization_endpoint, data=form)
    assert answer.status_code in (200, 302, 303)


def test_answer_may_come_by_form_post(any_world: Any) -> None:
    """The default of some OpenID Connect libraries; a button takes the place of a script."""
    state = string.punctuation + "é"
    page = any_world.submit(any_world.open_form(response_mode="form_post", state=state))
    assert page.status_code == 200
    (form,) = LexborHTMLParser(page.text).css("form")
    assert form.attributes["action"] == "https://gateway.test/callback"
    assert len(form.css("button")) == 1
    members = {str(each.attributes["name"]): each.attributes["value"] for each in form.css("input")}
    assert members["state"] == state
    assert any_world.exchange(members["code"]).status_code == 200


def test_error_comes_by_form_post_too(world: Any) -> None:
    page = world.open_form(response_mode="form_post", prompt="none")
    (form,) = LexborHTMLParser(page.text).css("form")
    assert form.css_first("input[name=error]").attributes["value"] == "login_required"


def test_other_response_modes_are_refused(world: Any) -> None:
    assert world.landed(world.open_form(response_mode="fragment"))["error"] == "invalid_request"


def test_wrong_password_shows_the_form_again_and_the_right_one_still_works(any_world: Any) -> None:
    again = any_world.submit(any_world.open_form(), password="wrong")
    assert again.status_code in (200, 401)
    assert "Wrong login or password" in again.text
    assert any_world.landed(any_world.submit(again))["code"]


def test_form_without_its_ticket_signs_nobody_in(world: Any) -> None:
    form = {
        "username": ALICE,
        "password": "alice-likes-long-walks",
        world.merchant.shape.page.ticket_name: "x",
    }
    assert world.post(world.places.sign_in, data=form).status_code == 400


def test_a_ticket_works_once(world: Any) -> None:
    page = world.open_form()
    assert world.landed(world.submit(page))["code"]
    assert world.submit(page).status_code == 400


@pytest.mark.parametrize(("method", "sent"), [("S256", True), ("plain", True), (None, False)])
def test_pkce_is_verified_with_either_method(world: Any, method: str | None, sent: bool) -> None:
    challenge = world.s256(VERIFIER) if method == "S256" else VERIFIER
    query = {"code_challenge": challenge, "code_challenge_method": method}
    code = world.code(**query)
    assert world.exchange(code, code_verifier=VERIFIER + "x").json()["error"] == "invalid_grant"
    assert world.exchange(code).json()["error"] == "invalid_grant"
    assert world.exchange(code, code_verifier=VERIFIER).status_code == 200


def test_verifier_without_challenge_is_a_downgrade(world: Any) -> None:
    assert world.exchange(world.code(), code_verifier=VERIFIER).json()["error"] == "invalid_grant"


def test_second_use_of_a_code_is_refused_and_revokes_the_first(world: Any) -> None:
    code = world.code()
    first = world.exchange(code).json()
    assert world.orders(first["access_token"]).status_code == 200
    assert world.exchange(code).json()["error"] == "invalid_grant"
    assert world.orders(first["access_token"]).status_code == 401


@pytest.mark.parametrize(
    "wrong", [{"redirect_uri": "https://gateway.test/other"}, {"redirect_uri": None}, {"client_id": "two"}]
)
def test_code_is_bound_to_client_and_redirect_uri(world: Any, wrong: dict[str, Any]) -> None:
    code = world.code()
    assert world.exchange(code, **wrong).json()["error"] == "invalid_grant"
    assert world.exchange(code).status_code == 200


def test_code_expires(world: Any) -> None:
    code = world.code()
    world.now += 301
    assert world.exchange(code).json()["error"] == "invalid_grant"


def test_client_may_prove_itself_at_the_exchange(world: Any) -> None:
    assert world.exchange(world.code(), client_id=None, **world.client_assertion("one")).status_code == 200
    answer = world.exchange(world.code(), **world.client_assertion("one", key=world.keys["two"]))
    assert answer.json()["error"] == "invalid_client"


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": None}, "invalid_request"),
        ({"code_challenge": "c", "code_challenge_method": "S512"}, "invalid_request"),
        ({"prompt": "none"}, "login_required"),
        ({"request": "e30.e30."}, "request_not_supported"),
    ],
)
def test_errors_go_back_by_redirect(world: Any, query: dict[str, Any], error: str) -> None:
    landed = world.landed(world.open_form(**query))
    assert landed["error"] == error
    assert landed["state"] == "s-1"
    assert "code" not in landed


def test_unknown_client_is_never_redirected(world: Any) -> None:
    assert world.open_form(client_id="nobody").status_code == 400


def test_doubled_parameter_is_refused(world: Any) -> None:
    query = "response_type=code&client_id=one&client_id=two&redirect_uri=https%3A%2F%2Fx.test"
    assert world.get(f"{world.places.authorization_endpoint}?{query}").status_code == 400


def test_id_token_ends_an_hour_after_the_targets_clock(world: Any) -> None:
    world.merchant.clock.ahead_s = 7200
    token = world.exchange(world.code()).json()["id_token"]
    claims = jwt.decode(token, options={"verify_signature": False})
    assert claims["exp"] == int(world.now) + 7200 + 3600
    assert claims["iat"] == int(world.now)


def test_without_openid_there_is_no_id_token(world: Any) -> None:
    assert "id_token" not in world.exchange(world.code(scope="orders:read")).json()


def test_iss_parameter_is_announced_when_it_is_sent(any_world: Any) -> None:
    issuer = any_world.places.issuer
    document = any_world.get(f"{issuer}/.well-known/openid-configuration").json()
    answer = any_world.submit(any_world.open_form())
    sent = dict(parse_qsl(urlsplit(answer.headers["location"]).query)).get("iss")
    assert sent == (issuer if document["authorization_response_iss_parameter_supported"] else None)
