"""The scripted gateway's side for agents remembers what it gave to whom, and holds everybody to it."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
import pytest

from gateproof.fakes.gateway.agent_endpoints import AgentEndpoints, fields
from gateproof.fakes.gateway.application import asks_for_gzip
from gateproof.fakes.gateway.deviations import DEVIATIONS, deviate
from gateproof.fakes.gateway.gateway import Replied
from gateproof.fakes.gateway.journal import Call
from gateproof.fakes.gateway.keys import new_key
from gateproof.fakes.gateway.script import Endpoint
from gateproof.fakes.gateway.site import odd_site

CALLBACK = "https://127.0.0.1:9/callback"


@pytest.fixture
def desk() -> AgentEndpoints:
    site = odd_site("https://127.0.0.1:1", "https://127.0.0.1:2")
    keys = {"key": new_key("ES256"), "identity_key": new_key("RS256")}
    return AgentEndpoints(site, indicator="https://api.example", scopes=("orders:read",), **keys)


def call(
    body: bytes = b"", target: str = "/", headers: tuple[tuple[str, str], ...] = (), method: str = "POST"
) -> Call:
    return Call(
        ordinal=1, endpoint=Endpoint.TOKEN, method=method, target=target, headers=headers, body=body, at_s=0.0
    )


def form(**members: str) -> Call:
    return call(urlencode(members).encode())


def registered(desk: AgentEndpoints) -> dict[str, str]:
    document = desk.register(call(json.dumps({"redirect_uris": [CALLBACK]}).encode())).document
    return {name: document[name] for name in ("client_id", "client_secret")}


def consented(desk: AgentEndpoints, client_id: str, **more: str) -> Replied:
    query = urlencode({"client_id": client_id, "redirect_uri": CALLBACK, "scope": "openid", **more})
    page = desk.authorize(call(target=f"{desk.site.authorization_path}?{query}", method="GET")).page or ""
    ticket = re.search(r'name="ticket" value="([^"]+)"', page)
    return desk.consent(form(ticket=ticket[1] if ticket else ""))


def code_of(answer: Replied) -> str:
    return parse_qs(urlsplit(answer.headers["location"]).query)["code"][0]


def test_code_is_worth_tokens_once(desk: AgentEndpoints) -> None:
    client = registered(desk)
    answer = consented(desk, client["client_id"], state="a b")
    exchange = form(grant_type="authorization_code", code=code_of(answer), **client)

    assert parse_qs(urlsplit(answer.headers["location"]).query)["state"] == ["a b"]
    tokens = desk.token(exchange)
    assert tokens.status == 200
    assert {"access_token", "id_token", "refresh_token", "scope"} <= set(tokens.document)
    assert desk.accepts(tokens.document["access_token"])
    assert desk.token(exchange).document["error"] == "invalid_grant"


def test_code_is_for_the_client_that_asked(desk: AgentEndpoints) -> None:
    client, other = registered(desk), registered(desk)
    code = code_of(consented(desk, client["client_id"]))

    assert desk.token(form(grant_type="authorization_code", code=code, **other)).status == 400
    wrong = {**client, "client_secret": other["client_secret"]}
    assert desk.token(form(grant_type="authorization_code", code=code, **wrong)).status == 401
    assert desk.token(form(grant_type="authorization_code", code=code, **client)).status == 200


def test_id_token_is_what_clients_of_openid_connect_accept(desk: AgentEndpoints) -> None:
    client = registered(desk)
    exchange = {"grant_type": "authorization_code", **client}
    code = code_of(consented(desk, client["client_id"], nonce="n-1"))
    tokens = desk.token(form(code=code, **exchange)).document
    _, answer = desk.core_routes()["GET", "/keys"]
    keys = jwt.PyJWKSet.from_dict(answer(call(method="GET")).document)
    known = {"audience": client["client_id"], "issuer": desk.issuer, "algorithms": ["RS256"]}

    def read(id_token: str) -> dict[str, Any]:
        key = keys[jwt.get_unverified_header(id_token)["kid"]]
        return jwt.decode(id_token, key, options={"require": ["iss", "sub", "aud", "exp", "iat"]}, **known)

    claims = read(tokens["id_token"])
    assert claims["nonce"] == "n-1"
    assert claims["auth_time"] <= claims["iat"]
    assert desk.discovery().document["id_token_signing_alg_values_supported"] == ["RS256"]
    refresh = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], **client}
    assert "nonce" not in read(desk.token(form(**refresh)).document["id_token"])
    without = desk.token(form(code=code_of(consented(desk, client["client_id"])), **exchange)).document
    assert "nonce" not in read(without["id_token"])


def test_pending_agent_gets_a_page_until_it_is_approved(desk: AgentEndpoints) -> None:
    desk.holds = True
    client = registered(desk)

    assert consented(desk, client["client_id"]).status == 200
    desk.approve_all()
    assert consented(desk, client["client_id"]).status == 302


def test_approval_is_for_those_who_have_registered(desk: AgentEndpoints) -> None:
    desk.holds = True
    first = registered(desk)
    desk.approve_all()

    assert "location" in consented(desk, first["client_id"]).headers
    assert consented(desk, registered(desk)["client_id"]).status == 200


def test_secret_has_to_be_encoded_in_a_form(desk: AgentEndpoints) -> None:
    secret = registered(desk)["client_secret"]

    assert set("+/&%=") <= set(secret)
    assert call(f"client_secret={secret}".encode()).form()["client_secret"] != secret
    assert form(client_secret=secret).form()["client_secret"] == secret


def test_unknown_agent_and_unknown_redirect_get_a_page(desk: AgentEndpoints) -> None:
    client = registered(desk)

    assert consented(desk, "nobody").status == 400
    assert consented(desk, client["client_id"], redirect_uri="https://elsewhere.example").status == 400


def test_refused_exchange_loses_its_code(desk: AgentEndpoints) -> None:
    client = registered(desk)
    desk.refusals = 1
    exchange = form(
        grant_type="authorization_code", code=code_of(consented(desk, client["client_id"])), **client
    )

    assert desk.token(exchange).document["error"] == "invalid_grant"
    assert desk.token(exchange).document["error"] == "invalid_grant"


def test_refresh_token_is_rotated_and_can_be_ended(desk: AgentEndpoints) -> None:
    client = registered(desk)
    code = code_of(consented(desk, client["client_id"]))
    first = desk.token(form(grant_type="authorization_code", code=code, **client)).document["refresh_token"]
    second = desk.token(form(grant_type="refresh_token", refresh_token=first, **client)).document

    assert desk.token(form(grant_type="refresh_token", refresh_token=first, **client)).status == 400
    desk.end_refresh_tokens()
    ended = form(grant_type="refresh_token", refresh_token=second["refresh_token"], **client)
    assert desk.token(ended).status == 400


def test_refresh_may_bring_an_access_token_alone(desk: AgentEndpoints) -> None:
    client = registered(desk)
    code = code_of(consented(desk, client["client_id"]))
    first = desk.token(form(grant_type="authorization_code", code=code, **client)).document
    desk.rotates_refresh_tokens = False
    again = form(grant_type="refresh_token", refresh_token=first["refresh_token"], **client)
    second, third = (desk.token(again).document for _ in range(2))

    assert set(first) - set(second) == {"refresh_token", "id_token"}
    assert desk.accepts(second["access_token"])
    assert desk.accepts(third["access_token"])


def test_answer_grants_what_was_asked_for_and_no_more(desk: AgentEndpoints) -> None:
    client = registered(desk)

    def refreshed(tokens: dict[str, Any], **more: str) -> dict[str, Any]:
        kept = tokens["refresh_token"]
        document = desk.token(form(grant_type="refresh_token", refresh_token=kept, **more, **client)).document
        return dict(document)

    code = code_of(consented(desk, client["client_id"], scope="openid orders:read profile"))
    first = desk.token(form(grant_type="authorization_code", code=code, **client)).document
    narrowed = refreshed(first, scope="openid orders:write")

    assert first["scope"] == "openid orders:read profile"
    claims = jwt.decode(first["access_token"], options={"verify_signature": False})
    assert claims["scope"] == "openid orders:read profile ext_token:read"
    assert narrowed["scope"] == "openid"
    assert refreshed(narrowed)["scope"] == "openid orders:read profile"


def test_short_lived_token_is_good_until_it_expires(
    desk: AgentEndpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = registered(desk)
    desk.lifetime_s = 3
    code = code_of(consented(desk, client["client_id"]))
    tokens = desk.token(form(grant_type="authorization_code", code=code, **client)).document
    claims = jwt.decode(tokens["access_token"], options={"verify_signature": False})

    assert (tokens["expires_in"], claims["exp"] - claims["iat"]) == (3, 3)
    assert desk.accepts(tokens["access_token"])
    assert claims["exp"] < desk.all_expired_at() <= claims["exp"] + 1
    monkeypatch.setattr("gateproof.fakes.gateway.agent_endpoints.time.time", lambda: claims["exp"])
    assert not desk.accepts(tokens["access_token"])


def test_gateway_that_takes_anybody_knows_every_client(desk: AgentEndpoints) -> None:
    desk.accepts_any_client = True
    code = code_of(consented(desk, "a stranger's client"))

    answer = desk.token(
        form(grant_type="authorization_code", code=code, client_id="a stranger's client", client_secret="s")
    )
    assert answer.status == 200


@pytest.mark.parametrize(
    "request_",
    [
        call(b'{"client_id": "a", "client_secret": "b c"}'),
        call(b"client_id=a&client_secret=b+c"),
        call(target="/token?client_id=a&client_secret=b%20c"),
        call(b"grant_type=x", headers=(("authorization", "Basic YTpiJTIwYw=="),)),
    ],
)
def test_credentials_are_found_wherever_they_are(request_: Call) -> None:
    found = fields(request_)
    assert (found["client_id"], found["client_secret"]) == ("a", "b c")


def test_no_two_sites_have_a_path_in_common() -> None:
    one, two = (odd_site("https://127.0.0.1:1", "https://127.0.0.1:2") for _ in range(2))
    names = ("resource_id", "registration_path", "authorization_path", "consent_path", "token_path")
    assert all(getattr(one, name) != getattr(two, name) for name in names)


def test_who_waits_can_be_sent_back_with_an_error(desk: AgentEndpoints) -> None:
    desk.holds = desk.redirects_pending = True
    client = registered(desk)

    answer = consented(desk, client["client_id"], state="a b")
    assert parse_qs(urlsplit(answer.headers["location"]).query) == {
        "error": ["access_denied"],
        "state": ["a b"],
    }
    desk.approve_all()
    assert code_of(consented(desk, client["client_id"], state="a b"))


def test_values_can_have_reserved_characters(desk: AgentEndpoints) -> None:
    desk.odd_values = True
    client = registered(desk)
    code = code_of(consented(desk, client["client_id"]))

    assert set("+/&%=:") <= set(client["client_id"])
    assert set("+/&%=") <= set(code)
    assert desk.token(form(grant_type="authorization_code", code=code, **client)).status == 200


@pytest.mark.parametrize(
    ("label", "status"),
    [
        ("application/json", 201),
        ("Application/JSON ; charset=utf-8", 201),
        ("application/x-www-form-urlencoded", 415),
        ("text/plain;charset=UTF-8", 415),
        (None, 415),
    ],
)
def test_gateway_may_mind_what_a_registration_is_said_to_be(
    desk: AgentEndpoints, label: str | None, status: int
) -> None:
    body = json.dumps({"redirect_uris": [CALLBACK]}).encode()
    asked = call(body, headers=(("content-type", label),) if label is not None else ())

    assert desk.register(asked).status == 201
    desk.requires_json_label = True
    assert desk.register(asked).status == status


def test_every_document_may_have_more_in_it(desk: AgentEndpoints) -> None:
    desk.extra_members = {"notes": ["more"]}
    body = {"redirect_uris": [CALLBACK], "client_name": "an agent", "client_id": "of its own"}
    client = desk.register(call(json.dumps(body).encode())).document
    code = code_of(consented(desk, client["client_id"]))
    known = {name: client[name] for name in ("client_id", "client_secret")}
    tokens = desk.token(form(grant_type="authorization_code", code=code, **known)).document

    assert client["client_name"] == "an agent"
    assert all(each["notes"] == ["more"] for each in (client, tokens, desk.discovery().document))


@pytest.mark.parametrize(
    ("said", "asks"),
    [
        ("gzip", True),
        ("br, GZIP", True),
        ("gzip;q=0.5, identity", True),
        ("gzip ; q=1.0", True),
        ("gzip;q=0", False),
        ("deflate, gzip;q=0.000", False),
        ("x-gzip-like", False),
        ("*", False),
        ("identity", False),
        (None, False),
    ],
)
def test_gzip_is_for_whoever_names_it(said: str | None, asks: bool) -> None:
    headers = (("accept-encoding", said),) if said is not None else ()
    assert asks_for_gzip(call(headers=headers)) is asks


REGISTERED_BY_NOBODY = [
    "http://127.0.0.1:9/callback",
    "http://localhost/x",
    "orders-agent://callback",
    "https:/[",
]


@pytest.mark.parametrize("uri", REGISTERED_BY_NOBODY)
def test_redirect_uri_that_is_not_https_is_refused(desk: AgentEndpoints, uri: str) -> None:
    answer = desk.register(call(json.dumps({"redirect_uris": [CALLBACK, uri]}).encode()))
    assert (answer.status, answer.document["error"]) == (400, "invalid_redirect_uri")
    assert not desk.clients


def test_client_without_a_secret_is_given_one(desk: AgentEndpoints) -> None:
    record = {"redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none"}
    document = desk.register(call(json.dumps(record).encode())).document
    assert document["client_secret"]
    assert document["token_endpoint_auth_method"] == "client_secret_post"


def test_each_deviation_changes_one_thing(desk: AgentEndpoints) -> None:
    server = urlsplit(desk.site.authorization_server).path
    before = desk.discovery().document
    assert before["issuer"] == desk.site.issuer != desk.site.authorization_server

    deviate(desk, ["issuer-address"])
    assert desk.discovery().document == {**before, "issuer": desk.site.authorization_server}

    at_rfc8414 = ("GET", f"/.well-known/oauth-authorization-server{server}")
    assert at_rfc8414 not in desk.base_routes()
    deviate(desk, ["rfc8414-metadata"])
    assert desk.base_routes()[at_rfc8414][0] is Endpoint.DISCOVERY

    deviate(desk, ["loopback-redirect"])
    taken = [
        uri
        for uri in REGISTERED_BY_NOBODY
        if desk.register(call(json.dumps({"redirect_uris": [uri]}).encode())).status == 201
    ]
    assert taken == REGISTERED_BY_NOBODY[:2]

    deviate(desk, ["public-client"])
    record = {"redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none"}
    document = desk.register(call(json.dumps(record).encode())).document
    assert "client_secret" not in document
    code = code_of(consented(desk, document["client_id"]))
    exchange = {"grant_type": "authorization_code", "code": code, "client_id": document["client_id"]}
    assert desk.token(form(**exchange)).status == 200


def test_deviations_are_all_known() -> None:
    for name in DEVIATIONS:
        site = odd_site("https://127.0.0.1:1", "https://127.0.0.1:2")
        desk = AgentEndpoints(
            site, indicator="x", scopes=(), key=new_key("ES256"), identity_key=new_key("ES256")
        )
        before = dict(vars(desk))
        deviate(desk, [name])
        assert [key for key, value in vars(desk).items() if before[key] != value] != []
