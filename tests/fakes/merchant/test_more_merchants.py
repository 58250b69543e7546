"""Merchants beside the first one are others in everything, and a hostile one lies where it is told to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import jwt
import pytest
from selectolax.lexbor import LexborHTMLParser

from gateproof.fakes.merchant.admin import MerchantAdmin, MerchantAdminError
from gateproof.fakes.merchant.config import MerchantConfig
from gateproof.fakes.merchant.process import MerchantProcess, start

TOKEN = "an-admin-token-of-tests"
ALICE = "alice@merchant.example"
PASSWORD = "alice-has-another-one"
CALLBACK = "https://gateway.test/callback"
UNVERIFIED = {"verify_signature": False}


@pytest.fixture(scope="module")
def process() -> Iterator[MerchantProcess]:
    with start(MerchantConfig(admin_token=TOKEN)) as running:
        yield running


@pytest.fixture
def other(process: MerchantProcess) -> Iterator[tuple[MerchantAdmin, dict[str, str]]]:
    admin, places = process.admin.open_merchant(11)
    admin.register_client("one")
    admin.add_user("alice", ALICE, PASSWORD)
    yield admin, places
    process.admin.close_merchant(admin)


def asked(places: dict[str, str], **query: str) -> httpx.Response:
    usual = {"response_type": "code", "client_id": "one", "redirect_uri": CALLBACK, "scope": "openid"}
    return httpx.get(places["authorization_endpoint"], params={**usual, "state": "s", **query})


def landed(places: dict[str, str], password: str) -> dict[str, str]:
    """The query that a browser brings back, after the form was sent."""
    page = asked(places)
    if page.is_redirect:
        page = httpx.get(str(page.url.join(page.headers["location"])))
    form = LexborHTMLParser(page.text).css_first("form")
    inputs = {
        str(each.attributes["name"]): each.attributes.get("value") or ""
        for each in form.css("input")
        if each.attributes.get("name")
    }
    target = str(page.url.join(str(form.attributes["action"])))
    answer = httpx.post(target, data={**inputs, "username": ALICE, "password": password})
    return dict(parse_qsl(urlsplit(answer.headers.get("location", "")).query))


def exchanged(places: dict[str, str], code: str) -> httpx.Response:
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "client_id": "one"}
    return httpx.post(places["token_endpoint"], data=form)


def test_other_merchant_has_its_own_issuer_users_and_journal(
    process: MerchantProcess, other: tuple[MerchantAdmin, dict[str, str]]
) -> None:
    admin, places = other
    before = process.admin.last_received()
    assert places["issuer"] != process.issuer
    assert landed(places, "alice-likes-long-walks") == {}
    back = landed(places, PASSWORD)
    assert back["iss"] == places["issuer"]
    claims = jwt.decode(exchanged(places, back["code"]).json()["id_token"], options=UNVERIFIED)
    assert (claims["iss"], claims["sub"]) == (places["issuer"], ALICE)
    assert process.admin.last_received() == before
    assert [entry.sent["code"] for entry in admin.journal() if entry.grant] == [back["code"]]


def test_closed_merchant_is_gone(process: MerchantProcess) -> None:
    admin, places = process.admin.open_merchant(12)
    process.admin.close_merchant(admin)
    with pytest.raises(httpx.ConnectError):
        httpx.get(places["jwks_uri"])
    with pytest.raises(MerchantAdminError, match="no such merchant"):
        process.admin.close_merchant(admin)


def test_lies_replace_what_would_be_true_until_others_are_told(
    other: tuple[MerchantAdmin, dict[str, str]],
) -> None:
    admin, places = other
    document = f"{places['issuer']}/.well-known/openid-configuration"
    admin.lie(discovery={"issuer": "https://bank.test"}, redirect_iss="https://bank.test")
    assert httpx.get(document).json()["issuer"] == "https://bank.test"
    assert landed(places, PASSWORD)["iss"] == "https://bank.test"
    admin.lie(redirect_iss="", id_token={"iss": "https://bank.test"})
    assert httpx.get(document).json()["issuer"] == places["issuer"]
    back = landed(places, PASSWORD)
    assert "iss" not in back
    claims = jwt.decode(exchanged(places, back["code"]).json()["id_token"], options=UNVERIFIED)
    assert claims["iss"] == "https://bank.test"


def test_browser_is_sent_on_to_another_authorization_endpoint(
    other: tuple[MerchantAdmin, dict[str, str]],
) -> None:
    admin, places = other
    admin.lie(sends_browsers_to="https://bank.test/authorize", parameters={"client_id": "at-the-bank"})
    location = asked(places, state="kept").headers["location"]
    query = dict(parse_qsl(urlsplit(location).query))
    assert location.startswith("https://bank.test/authorize?")
    assert (query["client_id"], query["state"]) == ("at-the-bank", "kept")


def test_any_code_of_anybody_is_taken(other: tuple[MerchantAdmin, dict[str, str]]) -> None:
    admin, places = other
    assert exchanged(places, "nobody's").status_code == 400
    admin.lie(any_code_for=ALICE, id_token={"nonce": "n"})
    answer: Any = exchanged(places, "nobody's").json()
    claims = jwt.decode(answer["id_token"], options=UNVERIFIED)
    assert (claims["sub"], claims["nonce"]) == (ALICE, "n")


@pytest.mark.parametrize(
    ("lie", "message"),
    [({"redirect_is": "x"}, "did you mean 'redirect_iss'"), ({"discovery": "x"}, "expected an object")],
)
def test_unknown_lies_are_refused(
    other: tuple[MerchantAdmin, dict[str, str]], lie: dict[str, Any], message: str
) -> None:
    with pytest.raises(MerchantAdminError, match=message):
        other[0].lie(**lie)


def test_merchant_with_a_public_address_has_no_other_beside_it() -> None:
    with (
        start(MerchantConfig(admin_token=TOKEN, public_url="http://127.0.0.1:9")) as running,
        pytest.raises(MerchantAdminError, match="no other beside it"),
    ):
        running.admin.open_merchant(11)


def test_open_merchants_have_different_keys_and_a_later_one_has_another_key_id(
    process: MerchantProcess,
) -> None:
    def keys(places: dict[str, str]) -> dict[str, str]:
        found = httpx.get(places["jwks_uri"]).json()["keys"]
        return {jwk.get("n") or jwk["x"]: jwk["kid"] for jwk in found}

    opened = [process.admin.open_merchant(seed) for seed in (21, 22)]
    one, two, first = (
        keys(places) for places in (opened[0][1], opened[1][1], {"jwks_uri": process.endpoints.jwks_uri})
    )
    assert len(one.keys() | two.keys() | first.keys()) == 6
    process.admin.close_merchant(opened[0][0])
    later, places = process.admin.open_merchant(23)
    assert not keys(places).keys() & (two.keys() | first.keys())
    assert not set(keys(places).values()) & set(one.values())
    for admin in (opened[1][0], later):
        process.admin.close_merchant(admin)
