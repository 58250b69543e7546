"""Refresh tokens live as the script has it, and reuse is noticed however many come at once."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx


def at_once(world: Any, token: str, times: int) -> list[httpx.Response]:
    async def race() -> list[httpx.Response]:
        form = {"grant_type": "refresh_token", "refresh_token": token, "client_id": "one"}
        return list(
            await asyncio.gather(
                *(world.http.post(world.places.token_endpoint, data=form) for _ in range(times))
            )
        )

    answers: list[httpx.Response] = world.run(race())
    return answers


def test_refresh_gives_a_new_token_that_works_with_the_same_agent(any_world: Any) -> None:
    first = any_world.provision().json()
    second = any_world.refresh(first["refresh_token"]).json()
    assert second["access_token"] != first["access_token"]
    assert any_world.orders(second["access_token"]).status_code == 200
    minted = any_world.merchant.ledger.find(second["access_token"])
    assert minted.actor == ("agent-1", "agent-0")
    assert any_world.merchant.ledger.find(first["access_token"]).superseded


def test_client_may_be_asserted_named_or_left_out(world: Any) -> None:
    token = world.provision().json()["refresh_token"]
    assert world.refresh(token, **world.client_assertion("one")).status_code == 200
    assert world.refresh(token, client_id="one").status_code == 200
    assert world.refresh(token).status_code == 200


def test_token_of_another_client_or_unknown_is_invalid_grant(world: Any) -> None:
    token = world.provision().json()["refresh_token"]
    assert world.refresh(token, client_id="two").json()["error"] == "invalid_grant"
    assert world.refresh(token, **world.client_assertion("two")).json()["error"] == "invalid_grant"
    assert world.refresh("unknown").json()["error"] == "invalid_grant"
    access = world.provision().json()["access_token"]
    assert world.refresh(access).json()["error"] == "invalid_grant"


def test_without_rotation_a_token_works_again_and_again(world: Any) -> None:
    token = world.provision().json()["refresh_token"]
    for _ in range(3):
        assert world.refresh(token).json()["refresh_token"] == token


def test_refresh_answer_may_bring_no_refresh_token(world: Any) -> None:
    world.script(omit_refresh_token_on_refresh=True)
    token = world.provision().json()["refresh_token"]
    for _ in range(2):
        answer = world.refresh(token)
        assert answer.status_code == 200
        assert "refresh_token" not in answer.json()


def test_no_refresh_token_is_issued_when_told_so(world: Any) -> None:
    world.script(issue_refresh_token=False)
    assert "refresh_token" not in world.provision().json()
    assert "refresh_token" not in world.exchange(world.code()).json()


def test_rotation_makes_a_token_single_use_and_reuse_ends_the_family(world: Any) -> None:
    world.script(rotate_refresh_tokens=True)
    first = world.provision().json()
    second = world.refresh(first["refresh_token"]).json()
    assert second["refresh_token"] != first["refresh_token"]
    assert world.merchant.ledger.find(first["refresh_token"]).superseded
    assert world.refresh(first["refresh_token"]).json()["error"] == "invalid_grant"
    assert world.refresh(second["refresh_token"]).json()["error"] == "invalid_grant"
    assert world.orders(second["access_token"]).status_code == 401


def test_family_of_another_sign_in_survives_reuse(world: Any) -> None:
    world.script(rotate_refresh_tokens=True)
    victim, other = world.provision().json(), world.provision().json()
    world.refresh(victim["refresh_token"])
    world.refresh(victim["refresh_token"])
    assert world.refresh(other["refresh_token"]).status_code == 200


def test_reuse_is_noticed_among_fifty_at_once(world: Any) -> None:
    world.script(rotate_refresh_tokens=True)
    token = world.provision().json()["refresh_token"]
    answers = at_once(world, token, 50)
    assert sorted(answer.status_code for answer in answers) == [200] + [400] * 49


def test_reuse_is_noticed_behind_a_gate_too(world: Any) -> None:
    token = world.provision().json()["refresh_token"]
    held = {"outcome": "hold", "gate": "g", "parties": 8, "seconds": 20}
    world.script(rotate_refresh_tokens=True, refresh=held)
    answers = at_once(world, token, 8)
    assert sorted(answer.status_code for answer in answers) == [200] + [400] * 7
    assert world.merchant.gates.arrived("g") == 8


def test_fifty_exchanges_of_one_code_give_one_success(world: Any) -> None:
    code = world.code()

    async def race() -> list[httpx.Response]:
        form = {"grant_type": "authorization_code", "code": code, "client_id": "one"}
        form["redirect_uri"] = "https://gateway.test/callback"
        return list(
            await asyncio.gather(
                *(world.http.post(world.places.token_endpoint, data=form) for _ in range(50))
            )
        )

    assert [answer.status_code for answer in world.run(race())].count(200) == 1


def test_rejected_refresh_token_stays_rejected_when_the_script_changes(world: Any) -> None:
    issued = world.provision().json()
    world.script(refresh="reject")
    assert world.refresh(issued["refresh_token"]).json()["error"] == "invalid_grant"
    world.script()
    assert world.refresh(issued["refresh_token"]).json()["error"] == "invalid_grant"
    assert world.refresh(world.provision().json()["refresh_token"]).status_code == 200


def test_rejected_refresh_leaves_the_access_token_alone(world: Any) -> None:
    issued = world.provision().json()
    world.script(refresh="reject")
    world.refresh(issued["refresh_token"])
    token = world.merchant.ledger.find(issued["access_token"], "access_token")
    assert token is not None
    assert world.merchant.ledger.is_active(token)
