"""The honest gateway's token endpoint, for agents and for Proxy clients."""

from __future__ import annotations

import base64
from typing import Any

import httpx
import pytest

CORE = "https://core.test:8444"
TOKEN = f"{CORE}/oauth2/token"


def error_of(answer: httpx.Response) -> tuple[int, str]:
    assert answer.headers["cache-control"] == "no-store"
    return answer.status_code, answer.json()["error"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"code_verifier": "x" * 43}, (400, "invalid_grant")),
        ({"code_verifier": None}, (400, "invalid_request")),
        ({"code_verifier": ""}, (400, "invalid_request")),
        ({"redirect_uri": "https://agent.example/other"}, (400, "invalid_grant")),
        ({"redirect_uri": None}, (400, "invalid_request")),
        ({"code": "unheard-of"}, (400, "invalid_grant")),
        ({"client_secret": "wrong"}, (401, "invalid_client")),
        ({"client_secret": None}, (401, "invalid_client")),
        ({"client_id": "agent_unknown"}, (401, "invalid_client")),
        ({"grant_type": "password"}, (400, "unsupported_grant_type")),
        ({"grant_type": None}, (400, "invalid_request")),
    ],
)
def test_a_wrong_exchange_gets_no_tokens(
    party: Any, changes: dict[str, str | None], expected: tuple[int, str]
) -> None:
    place, agent = (
        party.place(),
        party.agent(redirect_uris=["https://agent.example/callback", "https://agent.example/other"]),
    )
    code = party.code(place, agent)

    assert error_of(party.exchange(agent, code, **changes)) == expected


def test_a_code_dies_of_its_first_wrong_verifier(party: Any) -> None:
    place, agent = party.place(), party.agent()
    code = party.code(place, agent)
    party.exchange(agent, code, code_verifier="x" * 43)

    assert error_of(party.exchange(agent, code)) == (400, "invalid_grant")


def test_a_code_expires(party: Any) -> None:
    place, agent = party.place(), party.agent()
    code = party.code(place, agent)
    party.clock.advance(60)

    assert error_of(party.exchange(agent, code)) == (400, "invalid_grant")


def test_a_stolen_code_is_worth_nothing_and_stays_good(party: Any) -> None:
    place, agent, thief = party.place(), party.agent(), party.agent()
    code = party.code(place, agent)
    theft = {"client_id": thief["client_id"], "client_secret": thief["client_secret"]}

    assert error_of(party.exchange(agent, code, **theft)) == (400, "invalid_grant")
    assert party.exchange(agent, code).status_code == 200


def test_a_second_use_takes_back_what_the_first_gave(party: Any) -> None:
    place, agent = party.place(), party.agent()
    code = party.code(place, agent)
    tokens = party.exchange(agent, code).json()
    proxy = party.proxy_token(place)
    assert party.redeem(tokens["access_token"], proxy, place.indicator).status_code == 200

    assert error_of(party.exchange(agent, code)) == (400, "invalid_grant")
    assert party.redeem(tokens["access_token"], proxy, place.indicator).status_code == 401
    assert refresh(party, agent, tokens["refresh_token"]).status_code == 400


def test_fifty_exchanges_of_one_code_give_one_success(party: Any) -> None:
    place, agent = party.place(), party.agent()
    code = party.code(place, agent)
    answers = party.send(*(party.exchange_request(agent, code) for _ in range(50)))

    assert sorted(answer.status_code for answer in answers) == [200] + [400] * 49


def refresh(party: Any, agent: dict[str, Any], token: str, **more: str) -> httpx.Response:
    form = {"grant_type": "refresh_token", "refresh_token": token, **more}
    form |= {"client_id": agent["client_id"], "client_secret": agent["client_secret"]}
    return party.post(TOKEN, data=form)


def test_a_refresh_token_gives_new_tokens_once(party: Any) -> None:
    place, agent = party.place(), party.agent()
    first = party.tokens(place, agent)
    second = refresh(party, agent, first["refresh_token"])

    assert second.status_code == 200
    access = second.json()["access_token"]
    assert party.redeem(access, party.proxy_token(place), place.indicator).status_code == 200
    assert error_of(refresh(party, agent, first["refresh_token"])) == (400, "invalid_grant")
    assert party.redeem(access, party.proxy_token(place), place.indicator).status_code == 401
    assert error_of(refresh(party, agent, second.json()["refresh_token"])) == (400, "invalid_grant")


def test_a_refresh_may_ask_for_less_and_never_for_more(party: Any) -> None:
    place, agent = party.place(), party.agent()
    tokens = party.tokens(place, agent, scope="openid orders:read orders:write")
    more = refresh(party, agent, tokens["refresh_token"], scope="openid admin")
    less = refresh(party, agent, tokens["refresh_token"], scope="openid orders:read")

    assert error_of(more) == (400, "invalid_scope")
    assert less.json()["scope"] == "openid orders:read ext_token:read"


def test_basic_is_not_for_agents(party: Any) -> None:
    place, agent = party.place(), party.agent()
    request = party.exchange_request(agent, party.code(place, agent))
    pair = f"{agent['client_id']}:{agent['client_secret']}".encode()
    request.headers["authorization"] = f"Basic {base64.b64encode(pair).decode()}"
    (both,) = party.send(request)
    only = party.exchange_request(agent, party.code(place, agent), client_id=None, client_secret=None)
    only.headers["authorization"] = request.headers["authorization"]

    assert error_of(both) == (401, "invalid_client")
    assert error_of(party.send(only)[0]) == (401, "invalid_client")


def test_the_endpoint_takes_forms_by_post(party: Any) -> None:
    assert party.get(TOKEN).status_code == 405
    assert party.get(TOKEN).json() == {"error": "method_not_allowed"}
    assert error_of(party.post(TOKEN, json={"grant_type": "client_credentials"})) == (400, "invalid_request")
    doubled = party.post(
        TOKEN,
        content=b"grant_type=client_credentials&grant_type=client_credentials",
        headers={"content-type": "application/x-www-form-urlencoded"},
    )
    assert error_of(doubled) == (400, "invalid_request")


def test_credentials_in_the_url_are_refused(party: Any) -> None:
    place, agent = party.place(), party.agent()
    request = party.exchange_request(agent, party.code(place, agent))
    request.url = request.url.copy_with(query=b"client_secret=" + agent["client_secret"].encode())

    assert error_of(party.send(request)[0]) == (400, "invalid_request")


def test_a_proxy_token_lasts_an_hour_less_a_second(party: Any) -> None:
    answer = party.proxy_answer(party.place())

    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert set(answer.json()) == {"access_token", "token_type", "expires_in"}
    assert answer.json()["expires_in"] == 3599


def test_proxy_credentials_have_to_be_right(party: Any) -> None:
    place, other = party.place(), party.place()
    answers = [party.proxy_answer(place, "wrong"), party.proxy_answer(place, other.proxy[1])]
    form = {"client_id": place.proxy[0], "client_secret": place.proxy[1]}
    answers.append(party.post(TOKEN, data={"grant_type": "client_credentials", **form}))
    answers += [
        party.post(TOKEN, data={"grant_type": "client_credentials"}, headers={"authorization": header})
        for header in ("Basic", "Basic !", "Basic aGVsbG8=", "Basic /w==", "Bearer x")
    ]

    for answer in answers:
        assert error_of(answer) == (401, "invalid_client")
        assert answer.headers["www-authenticate"].startswith("Basic")


def test_an_agent_gets_no_proxy_token(party: Any) -> None:
    agent = party.agent()
    pair = base64.b64encode(f"{agent['client_id']}:{agent['client_secret']}".encode()).decode()
    answer = party.post(
        TOKEN, data={"grant_type": "client_credentials"}, headers={"authorization": f"Basic {pair}"}
    )

    assert error_of(answer) == (401, "invalid_client")


def test_revoking_one_proxy_client_leaves_the_others(party: Any) -> None:
    place = party.place()
    second = party.control("create_proxy_client", project_id=place.project_id)
    party.control("revoke_proxy_client", project_id=place.project_id, client_id=place.proxy[0])
    pair = f"{second['client_id']}:{second['client_secret']}".encode()
    headers = {"authorization": f"Basic {base64.b64encode(pair).decode()}"}

    assert error_of(party.proxy_answer(place)) == (401, "invalid_client")
    assert party.post(TOKEN, data={"grant_type": "client_credentials"}, headers=headers).status_code == 200
