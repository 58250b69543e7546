"""What the gateway asserts is believed when a key of the client meant has signed it, and only then."""

from __future__ import annotations

import asyncio
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import jwt
import pytest

ALICE = "alice@merchant.example"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ALGORITHMS = ["RS256", "PS256", "ES256", "ES384", "EdDSA"]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("grant", "field"), [(JWT_BEARER, "assertion"), (TOKEN_EXCHANGE, "subject_token")])
def test_both_grants_take_every_promised_algorithm(
    world: Any, algorithm: str, grant: str, field: str
) -> None:
    key = world.key(algorithm)
    world.publish("one", key)
    answer = world.token(grant_type=grant, **{field: world.assertion(key)})
    assert answer.status_code == 200
    members = answer.json()
    assert type(members["expires_in"]) is int
    assert members["refresh_token"]
    assert ("issued_token_type" in members) == (grant == TOKEN_EXCHANGE)
    assert world.orders(members["access_token"]).status_code == 200


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_client_assertion_takes_every_promised_algorithm(world: Any, algorithm: str) -> None:
    key = world.key(algorithm)
    world.publish("two", key)
    issued = world.provision(world.assertion(key, iss="two"), **world.client_assertion("two", key=key))
    assert issued.status_code == 200


def test_token_carries_user_agent_and_client(any_world: Any) -> None:
    token = any_world.provision().json()["access_token"]
    minted = any_world.merchant.ledger.find(token, "access_token")
    assert (minted.login, minted.client_id) == (ALICE, "one")
    assert minted.actor == ("agent-1", "agent-0")


@pytest.mark.parametrize(
    ("act", "actor"),
    [
        ("agent", ("agent",)),
        ({"sub": "agent"}, ("agent",)),
        ({"a": [{"b": "agent"}], "n": 7}, ("agent",)),
        (None, ()),
    ],
)
def test_act_may_have_any_shape(world: Any, act: Any, actor: tuple[str, ...]) -> None:
    token = world.provision(world.assertion(act=act)).json()["access_token"]
    assert world.merchant.ledger.find(token).actor == actor


@pytest.mark.parametrize("named", ["parameter", "issuer", "client assertion", "claim", "keys alone"])
def test_client_is_found_however_it_is_named(world: Any, named: str) -> None:
    stranger = "https://core.gateway.test"
    form: dict[str, Any] = {}
    claims: dict[str, Any] = {"iss": "two" if named == "issuer" else stranger}
    if named == "parameter":
        form = {"client_id": "two"}
    elif named == "client assertion":
        form = world.client_assertion("two")
    elif named == "claim":
        claims["client_id"] = "two"
    answer = world.provision(world.assertion(world.keys["two"], **claims), **form)
    assert world.merchant.ledger.find(answer.json()["access_token"]).client_id == "two"


def test_shared_keys_are_told_apart_by_the_indicator(world: Any) -> None:
    world.publish("two", world.keys["one"])
    for name in ("one", "two"):
        client = world.merchant.clients.find(name)
        known = type(client)(client_id=name, jwks_uri=client.jwks_uri, indicator=f"https://api.test/{name}")
        world.merchant.clients.register(known)
    for name in ("one", "two"):
        answer = world.provision(world.assertion(iss="https://core"), resource=f"https://api.test/{name}")
        assert world.merchant.ledger.find(answer.json()["access_token"]).client_id == name


def test_signature_of_another_clients_key_is_refused(world: Any) -> None:
    assert world.provision(world.assertion(world.keys["two"])).json()["error"] == "invalid_grant"
    answer = world.provision(world.assertion(world.keys["two"], iss="x"), client_id="one")
    assert answer.json()["error"] == "invalid_grant"


def test_unsigned_and_symmetric_assertions_are_refused(world: Any) -> None:
    unsigned = jwt.encode(world.claims(), None, "none")
    symmetric = jwt.encode(world.claims(), "s" * 32, "HS256", headers={"kid": "k1"})
    for forged in (unsigned, symmetric, "no.jwt.here", "", "x" * 20_000):
        assert world.provision(forged or ".").json()["error"] == "invalid_grant"


def test_altered_assertion_is_refused(world: Any) -> None:
    head, body, signature = world.assertion().split(".")
    other = world.assertion(sub="bob@merchant.example").split(".")[1]
    assert world.provision(f"{head}.{other}.{signature}").json()["error"] == "invalid_grant"
    assert world.provision(f"{head}.{body}.{signature}").status_code == 200


def test_own_id_token_is_no_subject_token(world: Any) -> None:
    own = world.exchange(world.code()).json()["id_token"]
    assert world.token(grant_type=TOKEN_EXCHANGE, subject_token=own).json()["error"] == "invalid_grant"


def test_audience_is_the_issuer_or_the_token_endpoint(any_world: Any) -> None:
    places = any_world.places
    for good in (places.issuer, places.token_endpoint, places.issuer + "/", ["x", places.issuer]):
        assert any_world.provision(any_world.assertion(aud=good)).status_code == 200
    for bad in ("https://elsewhere.test", places.api_url, [], 7, None):
        assert any_world.provision(any_world.assertion(aud=bad)).json()["error"] == "invalid_grant"


def test_dates_may_run_ahead_as_far_as_the_targets_clock(world: Any) -> None:
    world.merchant.clock.ahead_s = 86_400
    ahead = int(world.now) + 86_400
    assert world.provision(world.assertion(iat=ahead, nbf=ahead, exp=ahead + 60)).status_code == 200
    assert world.provision(world.assertion(iat=ahead + 50)).status_code == 200
    assert world.provision(world.assertion()).status_code == 200
    assert world.provision(world.assertion(iat=ahead + 100)).json()["error"] == "invalid_grant"
    assert world.provision(world.assertion(nbf=ahead + 100)).json()["error"] == "invalid_grant"


def test_expiry_has_a_minute_of_leeway(world: Any) -> None:
    assert world.provision(world.assertion(exp=int(world.now) - 50)).status_code == 200
    assert world.provision(world.assertion(exp=int(world.now) - 70)).json()["error"] == "invalid_grant"
    assert world.provision(world.assertion(exp="soon")).json()["error"] == "invalid_grant"


def test_unknown_login_is_refused(world: Any) -> None:
    assert world.provision(world.assertion(sub="nobody@merchant.example")).json()["error"] == "invalid_grant"
    assert world.provision(world.assertion(sub=None)).json()["error"] == "invalid_grant"


def test_new_key_is_found_by_fetching_again(world: Any) -> None:
    assert world.provision().status_code == 200
    rotated = world.key(kid="k-new")
    world.publish("one", rotated)
    assert world.provision(world.assertion(rotated)).status_code == 200
    same_kid = world.key(kid="k-new")
    world.publish("one", same_kid)
    assert world.provision(world.assertion(same_kid)).status_code == 200
    assert world.fetches.count("one") == 3


def test_keys_without_kid_and_tokens_without_kid_verify(world: Any) -> None:
    nameless = world.key(kid=None)
    world.publish("one", world.key(kid="other"), nameless)
    assert world.provision(world.assertion(nameless)).status_code == 200
    assert world.merchant.ledger.journal(client_id="one", after=0)[0][-1].verified_by["assertion"]


def encoded(octets: bytes) -> str:
    return urlsafe_b64encode(octets).rstrip(b"=").decode()


def other_last_character(token: str) -> str:
    """The same signature, with bits that decoders ignore."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return token[:-1] + alphabet[alphabet.index(token[-1]) + 1]


@pytest.mark.parametrize(
    "change",
    [
        other_last_character,
        lambda token: token.replace(".", ".!", 1),
        lambda token: f"{token}=",
        lambda token: f"{token}===",
        lambda token: f"{token}.",
        lambda token: token.rpartition(".")[0],
        lambda token: f"{token.partition('.')[0]}.W10.{token.rpartition('.')[2]}",
        lambda token: f"ä{token}",
    ],
    ids=[
        "spare bits",
        "another character",
        "padding",
        "much padding",
        "4 parts",
        "2 parts",
        "a list",
        "text",
    ],
)
def test_what_is_no_jwt_is_refused(world: Any, change: Any) -> None:
    refused = world.provision(change(world.assertion()))
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")


@pytest.mark.parametrize("header", [{"crit": ["exp"], "exp": 1}, {"b64": False}, {"kid": None}, {"kid": 7}])
def test_a_header_with_another_meaning_is_refused(world: Any, header: dict[str, Any]) -> None:
    key = world.key()
    world.publish("one", key)
    head, claims, _ = world.assertion(key).split(".")
    changed = {**json.loads(urlsafe_b64decode(head + "==")), **header}
    signed = f"{encoded(json.dumps(changed).encode())}.{claims}"
    algorithm = jwt.get_algorithm_by_name(changed["alg"])
    whole = f"{signed}.{encoded(algorithm.sign(signed.encode(), key.private))}"
    assert world.provision(whole).json()["error"] == "invalid_grant"


def test_good_assertions_cost_one_fetch_and_a_flood_of_bad_ones_few(world: Any) -> None:
    async def flood() -> None:
        forms = [{"grant_type": JWT_BEARER, "assertion": forged} for _ in range(30)]
        await asyncio.gather(*(world.http.post(world.places.token_endpoint, data=form) for form in forms))

    for _ in range(5):
        world.provision()
    assert world.fetches == ["one"]
    forged = world.assertion(world.key(kid="unknown"))
    world.run(flood())
    assert len(world.fetches) <= 4


def test_jwks_out_of_reach_is_a_refusal_and_not_kept(world: Any) -> None:
    keys = world.sets.pop("one")
    assert world.provision().json()["error"] == "invalid_grant"
    world.sets["one"] = keys
    assert world.provision().status_code == 200


def test_client_without_jwks_uri_is_not_believed(world: Any) -> None:
    world.merchant.clients.register(type(world.merchant.clients.find("one"))(client_id="late"))
    assert world.provision(world.assertion(iss="late")).json()["error"] == "invalid_grant"
    world.merchant.clients.set_jwks_uri("late", "https://gateway.test/one")
    assert world.provision(world.assertion(iss="late")).status_code == 200


def test_client_assertion_that_is_wrong_is_invalid_client(world: Any) -> None:
    bad_type = {**world.client_assertion("one"), "client_assertion_type": "x"}
    assert world.provision(**bad_type).json()["error"] == "invalid_request"
    for form in (
        world.client_assertion("one", key=world.keys["two"]),
        world.client_assertion("one", aud="https://elsewhere.test"),
        world.client_assertion("one", exp=1),
        {"client_id": "nobody"},
    ):
        answer = world.provision(**form)
        assert answer.json()["error"] == "invalid_client"
        assert answer.status_code in (400, 401)


def test_secrets_are_no_client_authentication(world: Any) -> None:
    assert world.provision(client_id="one", client_secret="s").json()["error"] == "invalid_client"
    form = {"grant_type": JWT_BEARER, "assertion": world.assertion()}
    answer = world.post(world.places.token_endpoint, data=form, auth=("one", ""))
    assert answer.status_code == 401
    assert "www-authenticate" in answer.headers


def test_empty_secret_is_none(world: Any) -> None:
    """RFC 6749 section 3.2: a parameter without a value counts as omitted."""
    assert world.provision(client_id="one", client_secret="").status_code == 200


def test_malformed_requests_get_the_errors_of_rfc_6749(world: Any) -> None:
    url = world.places.token_endpoint
    assert world.token(grant_type="password").json()["error"] == "unsupported_grant_type"
    assert world.token(x="y").json()["error"] == "invalid_request"
    assert world.token(grant_type=JWT_BEARER).json()["error"] == "invalid_request"
    assert world.post(url, json={"grant_type": JWT_BEARER}).json()["error"] == "invalid_request"
    doubled = world.post(url, data={"grant_type": [JWT_BEARER, JWT_BEARER]})
    assert doubled.json()["error"] == "invalid_request"
    assert doubled.headers["cache-control"] == "no-store"
    assert world.get(url).status_code == 405


def test_journal_keeps_the_raw_jwts_and_the_key(world: Any) -> None:
    proof = world.client_assertion("one")
    assertion = world.assertion()
    world.provision(assertion, **proof)
    entry = world.merchant.ledger.journal(client_id="one", after=0)[0][-1]
    assert entry.assertion == assertion
    assert entry.client_assertion == proof["client_assertion"]
    assert entry.verified_by == {"assertion": "k1", "client_assertion": "k1"}
    assert entry.actor == {"client_id": "agent-1", "chain": [{"sub": "agent-0"}]}
    assert (entry.grant, entry.login, entry.outcome, entry.status) == (JWT_BEARER, ALICE, "ok", 200)


def test_resource_of_a_trusted_gateway_is_a_client_by_its_own_address(world: Any) -> None:
    server, key = "https://gateway.test/res_new", world.key("ES256")
    world.publish("res_new/jwks", key)
    assert world.provision(world.assertion(key, iss=server)).status_code == 400
    world.merchant.clients.trust("https://gateway.test/")
    assert world.provision(world.assertion(key, iss=server)).status_code == 200
    assert world.open_form(client_id=server).status_code == 200
    assert world.open_form(client_id="https://other.test/res_new").status_code == 400
