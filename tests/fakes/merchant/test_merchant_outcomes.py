"""Every outcome does what its name says, and changes state before its answer fails."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gateproof.fakes.merchant.outcomes import OUTCOMES

HANGS = {"hang", "accept_then_hang"}
RESETS = {"reset", "rotate_then_reset"} | HANGS
# These break a connection off, which a test without connections cannot see.
CUT = {"drip", "truncated"}
CARRY_OUT = {
    "ok",
    "hold",
    "slow",
    "wrong_content_type",
    "rotate_then_500",
    "rotate_then_reset",
    "accept_then_hang",
    "early_hints",
    "echo",
    "no_refresh_token",
    "odd_lifetime",
}
MORE = {"redirect": {"location": "https://elsewhere.test/"}, "odd_lifetime": {"lifetime": "zero"}}


def spelled(name: str) -> Any:
    more: dict[str, Any] = {"seconds": 0.02} if name in HANGS | {"slow"} else dict(MORE.get(name, {}))
    if name in {"hold", "hold_then_reject"}:
        more = {"gate": "g", "parties": 1}
    return {"outcome": name, **more}


def minted(world: Any) -> int:
    return len(world.merchant.ledger.tokens(after=0)[0])


def test_all_promised_outcomes_are_there() -> None:
    promised = (
        "ok reject turn_away server_error too_many hang hold hold_then_reject slow html invalid_json "
        "wrong_shape wrong_content_type "
        "reset rotate_then_500 rotate_then_reset accept_then_hang drip truncated gzip_bomb long_body "
        "redirect early_hints two_lengths header_injection odd_lifetime no_refresh_token echo "
        "no_token refusal_with_200"
    )
    assert set(promised.split()) == set(OUTCOMES)


@pytest.mark.parametrize("name", sorted(OUTCOMES.keys() - CUT))
def test_state_changes_first_or_not_at_all(world: Any, name: str) -> None:
    world.script(answers=[spelled(name)])
    if name in RESETS:
        with pytest.raises(ConnectionResetError):
            world.provision()
    else:
        world.provision()
    assert (minted(world) > 0) == (name in CARRY_OUT)
    assert world.merchant.ledger.fired("one") == {name: 1}
    assert world.provision().status_code == 200


def answer_of(world: Any, outcome: Any) -> Any:
    world.script(answers=[outcome])
    return world.provision()


def test_errors_carry_status_and_retry_after(world: Any) -> None:
    broken = answer_of(world, {"outcome": "server_error", "status": 503, "retry_after_s": 3})
    assert (broken.status_code, broken.headers["retry-after"]) == (503, "3")
    assert answer_of(world, "server_error").status_code == 500
    assert answer_of(world, {"outcome": "too_many", "retry_after_s": 0}).headers["retry-after"] == "0"
    assert answer_of(world, "too_many").status_code == 429
    assert answer_of(world, "reject").json()["error"] == "invalid_grant"


def test_nonsense_comes_with_200(world: Any) -> None:
    page = answer_of(world, "html")
    assert (page.status_code, page.headers["content-type"].partition(";")[0]) == (200, "text/html")
    cut = answer_of(world, "invalid_json")
    assert cut.status_code == 200
    with pytest.raises(ValueError, match="Unterminated"):
        cut.json()
    assert not isinstance(answer_of(world, "wrong_shape").json()["access_token"], str)
    plain = answer_of(world, "wrong_content_type")
    assert plain.headers["content-type"] == "text/plain"
    assert world.orders(plain.json()["access_token"]).status_code == 200


@pytest.mark.parametrize("name", ["rotate_then_500", "rotate_then_reset"])
def test_rotation_outlives_the_failed_answer(world: Any, name: str) -> None:
    token = world.provision().json()["refresh_token"]
    world.script(answers=[name])
    if name == "rotate_then_reset":
        with pytest.raises(ConnectionResetError):
            world.refresh(token)
    else:
        assert world.refresh(token).status_code == 500
    assert world.merchant.ledger.find(token).superseded
    assert world.refresh(token).json()["error"] == "invalid_grant"


def test_transient_failure_leaves_the_refresh_token_good(world: Any) -> None:
    token = world.provision().json()["refresh_token"]
    world.script(rotate_refresh_tokens=True, answers=["server_error", "too_many", "html", "turn_away"])
    assert [world.refresh(token).status_code for _ in range(5)] == [500, 429, 200, 401, 200]


def test_tape_is_used_up_in_order_then_the_standing_behaviour_counts(world: Any) -> None:
    world.script(answers=["too_many", "ok"], provisioning="reject", refresh="accept")
    answers = [world.provision() for _ in range(4)]
    assert [answer.status_code for answer in answers] == [429, 200, 400, 400]
    assert world.refresh(answers[1].json()["refresh_token"]).status_code == 200


def test_sign_in_is_spared(world: Any) -> None:
    world.script(provisioning="reject", refresh="server_error", answers=["reset", "too_many"])
    assert world.exchange(world.code()).status_code == 200
    with pytest.raises(ConnectionResetError):
        world.provision()


def test_unbelieved_requests_leave_the_tape_alone(world: Any) -> None:
    world.script(answers=["too_many"])
    assert world.provision(world.assertion(world.keys["two"])).status_code == 400
    assert world.provision().status_code == 429


def test_script_of_a_login_goes_before_that_of_its_client(world: Any) -> None:
    world.script(provisioning="reject")
    world.script(login="bob@merchant.example")
    assert world.provision().status_code == 400
    assert world.provision(world.assertion(sub="bob@merchant.example")).status_code == 200


def test_script_of_one_client_leaves_others_alone(world: Any) -> None:
    world.script("one", provisioning="reject")
    assert world.provision(world.assertion(world.keys["two"], iss="two")).status_code == 200


def test_lifetime_is_told_and_kept(world: Any) -> None:
    world.script(access_token_lifetime_s=5)
    answer = world.provision().json()
    assert answer["expires_in"] == 5
    world.now += 4
    assert world.orders(answer["access_token"]).status_code == 200
    world.now += 1
    refused = world.orders(answer["access_token"])
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")


def test_held_call_is_in_the_journal_before_it_is_answered(world: Any) -> None:
    assertion = world.assertion()
    world.script(answers=[{"outcome": "hold", "gate": "g", "seconds": 30}])
    form = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion}

    async def held() -> tuple[Any, Any, int]:
        call = asyncio.create_task(world.http.post(world.places.token_endpoint, data=form))
        async with asyncio.timeout(10):
            while not world.merchant.gates.arrived("g"):  # noqa: ASYNC110 - the gate has no event for this
                await asyncio.sleep(0)
        (entry,) = world.merchant.ledger.journal(client_id="one", after=0)[0]
        before = entry.status
        assert world.merchant.gates.release("g") == 1
        return before, entry, (await call).status_code

    before, entry, status = world.run(held())
    assert before is None
    assert (entry.outcome, entry.status, status) == ("hold", 200, 200)
