"""How the honest gateway keeps merchant tokens."""

from __future__ import annotations

import asyncio
import gzip
import ssl
from dataclasses import replace
from datetime import datetime
from typing import Any

import httpx
import pytest
from starlette.responses import JSONResponse, Response

from gateproof.reference.gateway.policies import Policies
from gateproof.reference.gateway.policy.vault import MerchantLimits


def error_of(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


class Case:
    """One user's tokens at one place."""

    def __init__(self, party: Any, **how: Any) -> None:
        self.party = party
        self.place = party.place(**how)
        self.token = party.tokens(self.place)["access_token"]
        self.proxy = party.proxy_token(self.place)

    def redeem(self) -> httpx.Response:
        return self.party.redeem(self.token, self.proxy, self.place.indicator)

    def refreshes(self) -> int:
        return len(self.party.merchant.asked_for("refresh_token"))


def transient_answers() -> list[tuple[str, Any]]:
    def broken() -> Response:
        raise ConnectionRefusedError

    return [
        ("no connection", broken),
        ("500", lambda: Response("", 500)),
        ("503", lambda: JSONResponse({"error": "invalid_grant"}, 503)),
        ("429", lambda: JSONResponse({"error": "slow_down"}, 429)),
        ("html", lambda: Response("<p>hello", 200, media_type="text/html")),
        ("nonsense", lambda: Response("[1, 2", 200)),
        ("no token", lambda: JSONResponse({"access_token": 7})),
        ("redirect", lambda: Response("", 302, {"location": "https://evil.test/"})),
        ("another error", lambda: JSONResponse({"error": "invalid_client"}, 401)),
        ("endless", lambda: Response("x" * 300_000)),
    ]


def test_far_from_expiry_nothing_is_refreshed(party: Any) -> None:
    case = Case(party)
    first = case.redeem().json()
    party.clock.advance(3500)

    assert case.redeem().json() == first
    assert case.refreshes() == 0


@pytest.mark.parametrize("rotates", [True, False])
def test_near_expiry_it_is_refreshed_again_and_again(party: Any, rotates: bool) -> None:
    party.merchant.lifetime, party.merchant.rotates = 1000, rotates
    case = Case(party)
    seen = [case.redeem().json()]
    for _ in range(2):
        party.clock.advance(945)
        seen.append(case.redeem().json())

    assert len({answer["access_token"] for answer in seen}) == 3
    expiries = [datetime.fromisoformat(answer["expires_at"]) for answer in seen]
    assert expiries == sorted(set(expiries))
    assert case.refreshes() == 2


def test_fifty_redemptions_near_expiry_make_one_refresh(party: Any) -> None:
    case = Case(party)
    party.clock.advance(3550)
    requests = [party.redemption(case.token, case.proxy, case.place.indicator) for _ in range(50)]
    answers = party.send(*requests)

    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["access_token"] for answer in answers}) == 1
    assert case.refreshes() == 1
    assert case.redeem().status_code == 200


def test_one_users_refresh_does_not_wait_for_anothers(party: Any) -> None:
    party.merchant.lifetime = 1000
    slow, quick = Case(party), Case(party)
    party.clock.advance(945)

    async def overtaken() -> tuple[int, bool]:
        gate = party.merchant.before_refresh = asyncio.Event()
        first = asyncio.create_task(
            party.client.send(party.redemption(slow.token, slow.proxy, slow.place.indicator))
        )
        await party.merchant.refresh_came.wait()
        party.merchant.before_refresh = None
        answer = await party.client.send(party.redemption(quick.token, quick.proxy, quick.place.indicator))
        waiting = not first.done()
        gate.set()
        await first
        return answer.status_code, waiting

    assert party.runner.run(asyncio.wait_for(overtaken(), 10)) == (200, True)


def test_without_a_refresh_token_the_user_has_to_come_again(party: Any) -> None:
    party.merchant.issues_refresh_token = False
    case = Case(party)
    party.clock.advance(3590)
    still = case.redeem()
    party.clock.advance(10)
    token = party.tokens(case.place)["access_token"]

    assert still.status_code == 200
    party.apps.gateway.store.vault.clear()
    assert error_of(party.redeem(token, party.proxy_token(case.place), case.place.indicator))[0] == 404


def test_expired_and_nothing_to_refresh_with_is_410_until_the_next_sign_in(party: Any) -> None:
    party.merchant.issues_refresh_token, party.merchant.lifetime = False, 100
    case = Case(party)
    party.clock.advance(100)

    assert error_of(case.redeem()) == (410, "reauthentication_required")
    party.tokens(case.place)
    assert case.redeem().status_code == 200


def test_a_rejected_refresh_token_is_410_until_the_next_sign_in(party: Any) -> None:
    party.merchant.lifetime = 100
    case = Case(party)
    party.clock.advance(95)
    party.merchant.refresh = lambda: JSONResponse({"error": "invalid_grant"}, 400)

    assert error_of(case.redeem()) == (410, "reauthentication_required")
    assert error_of(case.redeem()) == (410, "reauthentication_required")
    assert case.refreshes() == 1
    party.merchant.refresh = None
    party.tokens(case.place)
    assert case.redeem().status_code == 200


@pytest.mark.parametrize(("name", "answer"), transient_answers())
def test_a_merchant_in_trouble_has_rejected_nothing(party: Any, name: str, answer: Any) -> None:
    party.merchant.lifetime = 100
    case = Case(party)
    cached = case.redeem().json()
    party.merchant.refresh = answer
    party.clock.advance(95)
    assert case.redeem().json() == cached
    party.clock.advance(5)

    assert error_of(case.redeem()) == (503, "temporarily_unavailable")
    party.merchant.refresh = None
    assert case.redeem().status_code == 200


@pytest.mark.parametrize(("name", "answer"), transient_answers())
def test_provisioning_that_fails_breaks_no_sign_in(party: Any, name: str, answer: Any) -> None:
    party.merchant.provisioning = answer
    case = Case(party)

    assert error_of(case.redeem()) == (404, "merchant_token_not_found")


def test_a_rejected_gateway_has_nothing_to_return(party: Any) -> None:
    case = Case(party)
    assert case.redeem().status_code == 200
    party.merchant.provisioning = lambda: JSONResponse({"error": "access_denied"}, 403)
    party.tokens(case.place)

    assert error_of(case.redeem()) == (404, "merchant_token_not_found")


def test_trouble_at_a_second_sign_in_leaves_the_first_ones_token(party: Any) -> None:
    case = Case(party)
    cached = case.redeem().json()
    party.merchant.provisioning = lambda: Response("", 500)
    party.tokens(case.place)

    assert case.redeem().json() == cached


@pytest.mark.parametrize("lifetime", [None, "3600", True, -1, 1e300])
def test_without_a_usable_lifetime_a_token_counts_as_long_lived(party: Any, lifetime: Any) -> None:
    party.merchant.lifetime = lifetime
    case = Case(party)
    party.clock.advance(3000)
    answer = case.redeem()

    assert answer.status_code == 200
    assert "expires_at" not in answer.json()
    assert case.refreshes() == 0


def test_a_sign_in_during_a_refresh_wins(party: Any) -> None:
    party.merchant.lifetime = 1000
    case = Case(party)
    party.clock.advance(945)
    party.merchant.refresh = lambda: JSONResponse({"error": "invalid_grant"}, 400)

    async def raced() -> httpx.Response:
        party.merchant.before_refresh = asyncio.Event()
        request = party.redemption(case.token, case.proxy, case.place.indicator)
        under_way = asyncio.create_task(party.client.send(request))
        await party.merchant.refresh_came.wait()
        vault = party.apps.gateway.store.vault
        ((key, old),) = vault.items()
        vault[key] = replace(old, access_token="newer", expires_at=old.expires_at + 1000)
        party.merchant.before_refresh.set()
        return await under_way

    answer = party.runner.run(asyncio.wait_for(raced(), 10))

    assert answer.status_code == 200
    assert answer.json()["access_token"] == "newer"


def compressed() -> Response:
    return Response(gzip.compress(b" " * 10_000_000), headers={"content-encoding": "gzip"})


def hung_up() -> Response:
    raise ConnectionResetError


def late() -> Response:
    raise TimeoutError


def distrusted() -> Response:
    raise ssl.SSLCertVerificationError("expired")


@pytest.mark.parametrize(
    ("word", "answer"),
    [
        ("encoding", compressed),
        ("connection", hung_up),
        ("late", late),
        ("tls", distrusted),
        ("size", lambda: Response("x" * 300_000)),
    ],
)
def test_what_came_in_place_of_an_answer_is_logged_in_a_word(party: Any, word: str, answer: Any) -> None:
    party.merchant.lifetime = 100
    case = Case(party)
    party.clock.advance(100)
    party.merchant.refresh = answer
    party.control("logs")

    assert error_of(case.redeem()) == (503, "temporarily_unavailable")
    said = [line for line in party.control("logs")["text"].splitlines() if "merchant" in line]
    assert [line.rpartition(": ")[2] for line in said] == [word]


def test_an_answer_that_never_ends_is_given_up(make_party: Any) -> None:
    limits = MerchantLimits(total_s=0.05)
    party = make_party(replace(Policies(), merchant_limits=limits))
    party.merchant.lifetime = 100
    case = Case(party)
    party.clock.advance(100)
    party.merchant.before_refresh = asyncio.Event()

    assert error_of(case.redeem()) == (503, "temporarily_unavailable")
