"""What a target gives for an address need not be one."""

from __future__ import annotations

import pytest

from gateproof.conformance.run.gateway.browsing import visit_of
from gateproof.conformance.run.prepare.further_origins import further_places
from gateproof.conformance.signin.sign_in_result import SignInRequest, SignInResult
from gateproof.conformance.suite.parties import User
from gateproof.conformance.targets.model import Reach
from gateproof.conformance.wire.client import Wire
from gateproof.conformance.wire.route import Place, origin, parts_of
from gateproof.conformance.wire.secret import Secret

ODD = [
    "https://[object Object]/login?code=c",
    "https://gw:undefined/login?code=c",
    "https://gw:99999/login?code=c",
    "https://[::1/login?code=c",
    "https:///login?code=c",
    "/login?code=c",
]


@pytest.mark.parametrize("url", ODD)
def test_odd_address_is_on_nobodys_origin_and_keeps_its_query(url: str) -> None:
    assert origin(url) == url
    assert parts_of(url).query == "code=c"


def test_origin_is_one_however_it_is_written() -> None:
    assert origin("HTTPS://Gateway.Example/a?b") == origin("https://gateway.example:443") != origin(ODD[1])


@pytest.mark.parametrize("url", ODD)
def test_sign_in_that_ends_at_an_odd_address_can_be_looked_at(url: str) -> None:
    asked = SignInRequest(
        authorization_url="https://gateway.example/oauth2/auth?state=s",
        redirect_uri="https://agent.example/callback",
        user=User(name="alice", login="alice", password=Secret("password", "p")),
    )

    visit = visit_of(SignInResult(left_to=url), asked)

    assert visit.sent_to == url
    assert ("code", "c") in visit.sent()
    assert "code" in visit.outcome()


@pytest.mark.parametrize("url", [*ODD, "https://gw:8443:8443/"])
def test_odd_address_is_out_of_reach(url: str) -> None:
    ours = Place(origins=frozenset({"https://gw:443"}), hosts=frozenset({"gw"}))
    assert not Wire((ours,), timeout_s=1.0, record=lambda _: None).may_reach(url)


def test_further_origin_is_in_reach_without_the_targets_headers() -> None:
    target = Place(origins=frozenset({"https://gw:443"}), hosts=frozenset({"gw"}), headers={"X-Staging": "1"})
    further = further_places(Reach(headers={"X-Staging": "1"}, origins=("https://idp.example",)))

    wire = Wire((target, *further), timeout_s=1.0, record=lambda _: None)

    assert wire.place_of("https://IDP.example:443/login").headers == {}
    assert not wire.may_reach("https://idp.example:8443/")
    assert not wire.may_reach("http://idp.example/")
    assert further_places(Reach()) == ()
