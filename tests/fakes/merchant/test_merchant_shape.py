"""The seed decides how the merchant looks: differently from seed to seed, always within the standards."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateproof.fakes.merchant.shape import Shape, shape

BASE = "https://merchant.test"
B64TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")


def of(seed: int) -> Shape:
    return shape(seed=seed, base_url=BASE, paths="seeded")


@given(st.integers())
def test_equal_seeds_give_equal_choices(seed: int) -> None:
    assert of(seed) == of(seed)
    forms = [of(seed).token_form("access_token", "c", "l", count) for count in range(3)]
    assert forms == [of(seed).token_form("access_token", "c", "l", count) for count in range(3)]


@given(st.integers())
def test_endpoints_never_coincide(seed: int) -> None:
    places = of(seed).endpoints
    urls = [*places.announced().values(), places.sign_in, f"{places.api_url}/orders"]
    assert len(set(urls)) == len(urls)
    assert all(url.startswith(BASE) for url in urls)


def test_seeds_differ_in_every_choice() -> None:
    shapes = [of(seed) for seed in range(40)]
    for name in Shape.__slots__:
        assert len({getattr(one, name) for one in shapes}) > 1, name
    assert {one.jwt_access_tokens("c") for one in shapes} == {True, False}
    orders = {tuple(one.ordered({"a": 1, "b": 2, "c": 3})) for one in shapes}
    assert len(orders) == 6


def test_usual_paths_are_the_promised_ones() -> None:
    places = shape(seed=3, base_url=BASE, paths="usual").endpoints
    assert places.announced() == {
        "issuer": BASE,
        "authorization_endpoint": f"{BASE}/authorize",
        "token_endpoint": f"{BASE}/token",
        "userinfo_endpoint": f"{BASE}/userinfo",
        "jwks_uri": f"{BASE}/jwks",
        "api_url": f"{BASE}/api",
    }


@pytest.mark.parametrize("seed", range(12))
def test_tokens_are_legal_and_of_many_lengths(make_world: Any, seed: int) -> None:
    world = make_world(seed=seed)
    for _ in range(8):
        world.refresh(world.provision().json()["refresh_token"])
    values = [token.value for token in world.merchant.ledger.tokens(after=0)[0]]
    assert len(set(values)) == len(values)
    assert all(B64TOKEN.fullmatch(value) and 24 <= len(value) <= 1600 for value in values)
    opaque = {token.value for token in world.merchant.ledger.tokens(after=0)[0] if token.form == "opaque"}
    assert len({len(value) for value in opaque}) > 3


def test_equal_seeds_give_other_secrets(make_world: Any) -> None:
    one, two = (make_world().provision().json() for _ in range(2))
    assert list(one) == list(two)
    assert len(one["refresh_token"]) == len(two["refresh_token"])
    assert one["refresh_token"] != two["refresh_token"]


def test_issuer_with_a_path_is_discovered_at_both_forms(any_world: Any) -> None:
    issuer = any_world.places.issuer
    path = issuer.removeprefix(BASE)
    known = ("openid-configuration", "oauth-authorization-server")
    spots = [f"{issuer}/.well-known/{name}" for name in known]
    spots += [f"{BASE}/.well-known/{name}{path}" for name in known]
    documents = [any_world.get(spot).json() for spot in spots]
    assert all(document == documents[0] for document in documents)
    announced = {name: documents[0][name] for name in any_world.places.announced() if name != "api_url"}
    assert announced == {name: url for name, url in any_world.places.announced().items() if name != "api_url"}


def test_own_key_set_is_public(any_world: Any) -> None:
    answer = any_world.get(any_world.places.jwks_uri)
    assert answer.headers["content-type"].startswith("application/json")
    keys = json.loads(answer.text)["keys"]
    assert len({key["kid"] for key in keys}) == 2
    assert not {"d", "p", "q", "k"} & {member for key in keys for member in key}


def test_usual_and_seeded_merchants_serve_what_they_announce(make_world: Any) -> None:
    for paths in ("usual", "seeded"):
        world = make_world(paths=paths)
        assert world.orders(world.provision().json()["access_token"]).status_code == 200
