"""The authorization endpoint, the sign-in and the approve page of the honest gateway."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import jwt
import pytest

BASE = "https://base.test:8443"
CALLBACK = "https://agent.example/callback"


def query_of(answer: httpx.Response) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(answer.headers["location"]).query, keep_blank_values=True))


def outcome(answer: httpx.Response) -> str:
    """What came of an authorization: a code, an error told by redirect, or a page."""
    if answer.status_code != 302:
        return f"page {answer.status_code}"
    query = query_of(answer)
    return "code" if "code" in query else query["error"]


@pytest.mark.parametrize(
    "state", ["x", "!*'();:@&=+$,/?#[]%\"<>\\^`{|}~-._", "%20%2B&code=x&amp;", "a b", "s" * 512, "ü"]
)
def test_state_comes_back_as_it_was_sent(party: Any, state: str) -> None:
    place, agent = party.place(), party.agent()
    answer = party.decide(party.page(party.authorization_url(place, agent, state=state)))

    assert answer.headers["location"].startswith(f"{CALLBACK}?code=")
    assert query_of(answer)["state"] == state
    assert query_of(answer)["iss"] == "https://core.test:8444"


def test_a_redirect_uri_keeps_its_own_query(party: Any) -> None:
    place, agent = party.place(), party.agent(redirect_uris=["https://agent.example/cb?tenant=1"])
    answer = party.decide(party.page(party.authorization_url(place, agent)))

    assert answer.headers["location"].startswith("https://agent.example/cb?tenant=1&code=")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"client_id": None}, "page 400"),
        ({"client_id": "agent_unknown"}, "page 400"),
        ({"redirect_uri": None}, "page 400"),
        ({"redirect_uri": CALLBACK + "/"}, "page 400"),
        ({"redirect_uri": CALLBACK + "?x=1"}, "page 400"),
        ({"redirect_uri": "https://AGENT.example/callback"}, "page 400"),
        ({"redirect_uri": "https://agent.example/./callback"}, "page 400"),
        ({"response_type": None}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code id_token"}, "unsupported_response_type"),
        ({"scope": None}, "invalid_request"),
        ({"scope": "orders:read"}, "invalid_scope"),
        ({"scope": "openid"}, "invalid_scope"),
        ({"scope": "openid orders:read admin"}, "invalid_scope"),
        ({"state": None}, "invalid_request"),
        ({"state": ""}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": "s256"}, "invalid_request"),
    ],
)
def test_a_request_that_is_not_right_gets_no_code(
    party: Any, changes: dict[str, str | None], expected: str
) -> None:
    place, agent = party.place(), party.agent()

    assert outcome(party.get(party.authorization_url(place, agent, **changes))) == expected


@pytest.mark.parametrize("name", ["scope", "state", "code_challenge", "unheard_of"])
def test_a_doubled_parameter_gets_no_code(party: Any, name: str) -> None:
    place, agent = party.place(), party.agent()
    url = party.authorization_url(place, agent, unheard_of="1")
    value = dict(parse_qsl(urlsplit(url).query))[name]

    assert outcome(party.get(f"{url}&{name}={value}")) == "invalid_request"


@pytest.mark.parametrize("name", ["client_id", "redirect_uri"])
def test_a_doubled_address_is_told_on_a_page(party: Any, name: str) -> None:
    place, agent = party.place(), party.agent()
    url = party.authorization_url(place, agent)
    value = dict(parse_qsl(urlsplit(url).query))[name]

    assert outcome(party.get(f"{url}&{name}={value}")) == "page 400"


def test_what_nobody_knows_changes_nothing(party: Any) -> None:
    place, agent = party.place(), party.agent()
    page = party.page(party.authorization_url(place, agent, resource="https://x.example", prompt="none"))

    assert outcome(party.decide(page)) == "code"


def test_a_query_that_is_not_utf_8_is_told_on_a_page(party: Any) -> None:
    place, agent = party.place(), party.agent()

    assert outcome(party.get(party.authorization_url(place, agent) + "&x=%ff")) == "page 400"


def test_a_user_who_declines_gives_no_code(party: Any) -> None:
    place, agent = party.place(), party.agent()
    page = party.page(party.authorization_url(place, agent))

    assert outcome(party.decide(page, "deny")) == "access_denied"


def test_a_user_whom_the_merchant_turns_away_gives_no_code(party: Any) -> None:
    place, agent = party.place(), party.agent()
    sent_away = party.get(party.authorization_url(place, agent)).headers["location"]
    query = dict(parse_qsl(urlsplit(sent_away).query))
    answer = party.get(query["redirect_uri"], params={"error": "access_denied", "state": query["state"]})

    assert outcome(answer) == "access_denied"


def test_pages_are_not_framed_not_kept_and_leak_no_referer(party: Any) -> None:
    place, agent = party.place(), party.agent()
    page = party.page(party.authorization_url(place, agent))

    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cache-control"] == "no-store"
    assert "HttpOnly" in page.headers["set-cookie"]
    assert "Secure" in page.headers["set-cookie"]


def test_a_ticket_is_good_for_one_decision(party: Any) -> None:
    place, agent = party.place(), party.agent()
    page = party.page(party.authorization_url(place, agent))
    party.decide(page)

    assert outcome(party.decide(page)) == "page 400"


def test_a_second_browser_cannot_decide(party: Any) -> None:
    place, agent = party.place(), party.agent()
    page = party.page(party.authorization_url(place, agent))
    cookies = dict(party.client.cookies)
    party.client.cookies.clear()
    stranger = outcome(party.decide(page))
    party.client.cookies.update(cookies)

    assert stranger == "page 400"
    assert outcome(party.decide(page)) == "code"


def test_a_second_browser_cannot_finish_the_sign_in(party: Any) -> None:
    place, agent = party.place(), party.agent()
    sent_away = party.get(party.authorization_url(place, agent)).headers["location"]
    back = party.get(sent_away).headers["location"]
    party.client.cookies.clear()

    assert outcome(party.get(back)) == "page 400"


def test_signing_in_changes_the_cookie(party: Any) -> None:
    """A cookie that somebody planted before the sign-in is worth nothing after it."""
    place, agent = party.place(), party.agent()
    party.get(party.authorization_url(place, agent))
    (before,) = party.client.cookies.values()
    party.page(party.authorization_url(place, agent))
    (after,) = party.client.cookies.values()

    assert before != after


def test_a_browser_that_is_signed_in_is_still_asked(party: Any) -> None:
    place = party.place()
    party.decide(party.page(party.authorization_url(place, party.agent())))
    page = party.get(party.authorization_url(place, party.agent()))

    assert page.status_code == 200
    assert "alice@merchant.example" in page.text
    assert outcome(party.decide(page)) == "code"


def test_somebody_else_may_sign_in_instead(party: Any) -> None:
    place, agent = party.place(), party.agent()
    party.decide(party.page(party.authorization_url(place, agent)))
    page = party.get(party.authorization_url(place, agent))
    party.merchant.user = "bob@merchant.example"
    away = party.decide(page, "switch").headers["location"]
    page = party.page(away)

    assert "bob@merchant.example" in page.text


def test_a_sign_in_is_forgotten_in_time(party: Any) -> None:
    place, agent = party.place(), party.agent()
    party.page(party.authorization_url(place, agent))
    party.clock.advance(901)

    assert party.get(party.authorization_url(place, agent)).status_code == 302


@pytest.mark.parametrize(
    "wrong",
    [
        {"iss": "https://other.test"},
        {"aud": "somebody-else"},
        {"nonce": "another"},
        {"exp": 1000},
        {"exp": "soon"},
        {"sub": ""},
        {"sub": 7},
    ],
)
def test_an_id_token_that_is_not_for_this_sign_in_signs_nobody_in(party: Any, wrong: dict[str, Any]) -> None:
    place, agent = party.place(), party.agent()
    party.merchant.id_token = lambda claims: party.merchant.signed(claims | wrong)

    assert outcome(party.page(party.authorization_url(place, agent))) == "temporarily_unavailable"


def test_an_id_token_that_the_merchant_did_not_sign_signs_nobody_in(party: Any) -> None:
    place, agent = party.place(), party.agent()
    party.merchant.id_token = lambda claims: jwt.encode(claims, "", algorithm="none")

    assert outcome(party.page(party.authorization_url(place, agent))) == "temporarily_unavailable"


def test_an_agent_that_is_held_waits_for_approval(party: Any) -> None:
    place, agent = party.place(), party.agent()
    party.control("set_agent_policy", project_id=place.project_id, agent_policy="hold")
    page = party.page(party.authorization_url(place, agent))
    party.control("approve_agent", project_id=place.project_id, client_id=agent["client_id"])

    assert page.status_code == 200
    assert "<form" not in page.text
    assert outcome(party.decide(party.page(party.authorization_url(place, agent)))) == "code"


def test_what_was_decided_about_an_agent_stays(party: Any) -> None:
    place, old = party.place(), party.agent()
    party.code(place, old)
    party.control("set_agent_policy", project_id=place.project_id, agent_policy="hold")
    held = party.agent()
    waiting = party.page(party.authorization_url(place, held))
    party.control("set_agent_policy", project_id=place.project_id, agent_policy="approve")

    assert outcome(party.decide(party.page(party.authorization_url(place, old)))) == "code"
    assert waiting.status_code == 200
    assert "<form" not in party.page(party.authorization_url(place, held)).text
