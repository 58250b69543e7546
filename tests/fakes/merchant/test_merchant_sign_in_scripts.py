"""Scripts for the sign-in act on the authorization endpoint and the authorization_code grant alone."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest

ALICE, BOB = "alice@merchant.example", "bob@merchant.example"
BOB_PASSWORD = "bob-builds-small-boats"
UNVERIFIED = {"verify_signature": False}


def id_claims(world: Any, **query: Any) -> dict[str, Any]:
    answer = world.exchange(world.code(**query)).json()
    return dict(jwt.decode(answer["id_token"], options=UNVERIFIED))


def test_right_password_is_refused_as_a_wrong_one_is(any_world: Any) -> None:
    wrong = any_world.submit(any_world.open_form(), password="wrong")
    any_world.script(login=ALICE, page="wrong_password")
    refused = any_world.submit(any_world.open_form())
    assert refused.status_code == wrong.status_code
    assert "Wrong login or password" in refused.text
    assert any_world.landed(any_world.submit(any_world.open_form(), username=BOB, password=BOB_PASSWORD))[
        "code"
    ]
    assert any_world.merchant.ledger.fired("one") == {"wrong_password": 1}


def test_error_comes_back_with_state_and_without_a_code(any_world: Any) -> None:
    any_world.script(page="error=access_denied")
    landed = any_world.landed(any_world.submit(any_world.open_form(state="s-2")))
    assert (landed["error"], landed["state"]) == ("access_denied", "s-2")
    assert "code" not in landed


def test_kept_code_goes_to_the_browser_of_another_user(any_world: Any) -> None:
    any_world.script(login=BOB, page="keep_code")
    kept = any_world.submit(any_world.open_form(state="s-bob"), username=BOB, password=BOB_PASSWORD)
    assert "location" not in kept.headers
    any_world.script(login=ALICE, page=f"code_of={BOB}")
    landed = any_world.landed(any_world.submit(any_world.open_form(state="s-alice")))
    token = any_world.exchange(landed["code"]).json()["id_token"]
    assert landed["state"] == "s-alice"
    assert jwt.decode(token, options=UNVERIFIED)["sub"] == BOB


def test_no_kept_code_is_no_code(any_world: Any) -> None:
    any_world.script(login=ALICE, page=f"code_of={BOB}")
    assert "code" not in any_world.landed(any_world.submit(any_world.open_form()))


@pytest.mark.parametrize(
    ("script", "states"), [("missing", []), ("empty", [""]), ("same", ["s-4"]), ("doubled", ["s-4", "s-4"])]
)
def test_state_is_sent_as_the_script_says(any_world: Any, script: str, states: list[str]) -> None:
    any_world.script(state=script)
    location = any_world.submit(any_world.open_form(state="s-4")).headers["location"]
    query = parse_qs(urlsplit(location).query, keep_blank_values=True)
    assert query.get("state", []) == states
    assert query["code"]


def test_another_state_is_none_that_was_sent(any_world: Any) -> None:
    any_world.script(state="another")
    assert any_world.landed(any_world.submit(any_world.open_form(state="s-5")))["state"] not in ("", "s-5")


def test_unsigned_id_token_has_the_claims_of_a_signed_one(world: Any) -> None:
    world.script(unsigned_id_token=True)
    token = world.exchange(world.code()).json()["id_token"]
    assert jwt.get_unverified_header(token)["alg"] == "none"
    assert token.endswith(".")
    assert jwt.decode(token, options=UNVERIFIED)["sub"] == ALICE


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        ("reject", 400),
        ("turn_away", 401),
        ("server_error", 500),
        ("html", 200),
        ("invalid_json", 200),
        ("no_token", 200),
        ("refusal_with_200", 200),
    ],
)
def test_code_is_answered_by_the_script_and_other_grants_are_not(
    world: Any, outcome: str, status: int
) -> None:
    world.script(sign_in=outcome)
    answer = world.exchange(world.code())
    assert answer.status_code == status
    assert not any(token in answer.text for token in ("id_token", "refresh_token"))
    assert world.provision().status_code == 200
    assert world.merchant.ledger.fired("one") == {outcome: 1, "ok": 1}


def test_scripts_for_other_grants_spare_the_sign_in(world: Any) -> None:
    world.script(provisioning="reject", refresh="reject", answers=["html"])
    assert world.exchange(world.code()).json()["id_token"]
    assert world.merchant.ledger.fired("one") == {}


def test_claims_are_replaced_and_left_out(world: Any) -> None:
    honest = id_claims(world, nonce="n-1")
    world.script(id_token={"iss": "https://another.test", "nonce": None, "sub": None})
    told = id_claims(world, nonce="n-1")
    assert told["iss"] == "https://another.test"
    assert honest.keys() - told.keys() == {"nonce", "sub"}
    assert told["aud"] == honest["aud"]


def test_userinfo_is_replaced_and_the_id_token_is_not(world: Any) -> None:
    world.script(login=ALICE, userinfo={"sub": BOB, "name": "<b>bob</b>"})
    answer = world.exchange(world.code()).json()
    bearer = {"authorization": f"Bearer {answer['access_token']}"}
    info = world.get(world.places.userinfo_endpoint, headers=bearer).json()
    assert (info["sub"], info["name"], info["email"]) == (BOB, "<b>bob</b>", ALICE)
    assert jwt.decode(answer["id_token"], options=UNVERIFIED)["sub"] == ALICE


def test_altered_signature_leaves_the_claims_as_they_are(world: Any) -> None:
    world.script(alter_id_token_signature=True)
    token = world.exchange(world.code()).json()["id_token"]
    assert jwt.decode(token, options=UNVERIFIED)["sub"] == ALICE
    keys = jwt.PyJWKSet.from_dict(world.get(world.places.jwks_uri).json())
    with pytest.raises(jwt.InvalidSignatureError):
        jwt.decode(token, keys[jwt.get_unverified_header(token)["kid"]], audience="one")


def test_journal_says_what_was_sent(world: Any) -> None:
    code = world.code(nonce="n-1", state="s-3")
    world.exchange(code)
    world.provision()
    entries, _ = world.merchant.ledger.journal(client_id="one", after=0)
    asked = next(entry for entry in entries if entry.endpoint == "authorization")
    exchanged, provisioned = (entry for entry in entries if entry.endpoint == "token")
    assert (asked.sent["nonce"], asked.sent["state"]) == ("n-1", "s-3")
    assert exchanged.sent["code"] == code
    assert "assertion" not in provisioned.sent
    assert code not in repr(exchanged)
