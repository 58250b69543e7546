"""The merchant API answers the user whom a good merchant token carries, and nobody else."""

from __future__ import annotations

from typing import Any

import pytest

from gateproof.fakes.merchant.users import User


def test_each_user_sees_the_orders_that_are_theirs(any_world: Any) -> None:
    seen = {}
    for login in ("alice@merchant.example", "bob@merchant.example"):
        token = any_world.provision(any_world.assertion(sub=login)).json()["access_token"]
        seen[login] = any_world.orders(token).json()["orders"]
        assert seen[login] == any_world.merchant.accounts.orders(login)
        assert all(order.keys() == {"id", "item"} for order in seen[login])
    alice, bob = ({order["id"] for order in orders} for orders in seen.values())
    assert alice
    assert bob
    assert not alice & bob


def test_order_ids_cannot_be_guessed_from_the_seed(make_world: Any) -> None:
    first, second = (make_world().merchant.accounts.orders("alice@merchant.example") for _ in range(2))
    assert first != second


def test_added_user_is_served(world: Any) -> None:
    world.merchant.accounts.add(User(name="carol", login="carol@merchant.example", password="pass of carol"))
    page = world.submit(world.open_form(), username="carol@merchant.example", password="pass of carol")
    token = world.exchange(world.landed(page)["code"]).json()["access_token"]
    assert world.orders(token).json()["orders"] == world.merchant.accounts.orders("carol@merchant.example")


@pytest.mark.parametrize("header", [None, "Bearer", "Bearer nonsense", "Basic eDp5", "nonsense"])
def test_anything_but_a_good_bearer_token_gets_401(world: Any, header: str | None) -> None:
    headers = {"authorization": header} if header else {}
    answer = world.get(f"{world.places.api_url}/orders", headers=headers)
    assert answer.status_code == 401
    challenge = answer.headers["www-authenticate"]
    assert challenge.startswith("Bearer")
    assert ("error=" in challenge) == (header is not None)


def test_only_access_tokens_open_the_api_and_only_in_the_header(world: Any) -> None:
    issued = world.exchange(world.code()).json()
    url = f"{world.places.api_url}/orders"
    assert world.orders(issued["refresh_token"]).status_code == 401
    assert world.orders(issued["id_token"]).status_code == 401
    assert world.get(url, params={"access_token": issued["access_token"]}).status_code == 401
    assert world.get(url, headers={"authorization": f"bearer {issued['access_token']}"}).status_code == 200


def test_userinfo_refuses_strangers(world: Any) -> None:
    assert world.get(world.places.userinfo_endpoint).status_code == 401
