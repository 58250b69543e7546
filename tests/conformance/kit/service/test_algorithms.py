"""A service that takes another algorithm than RS256 is found out, with the first good token."""

from __future__ import annotations

from collections.abc import Callable

import jwt
import pytest

from gateproof.conformance.kit.service import algorithms
from gateproof.conformance.kit.service.algorithms import Algorithms
from gateproof.conformance.wire.exchange import Answer, Exchange, Request
from gateproof.fakes.gateway.gateway import ScriptedGateway
from gateproof.fakes.gateway.keys import new_key

REQUEST = Request(method="POST", url="https://service.test/orders")


@pytest.fixture
def scripted(scripted_gateway: ScriptedGateway) -> ScriptedGateway:
    return ScriptedGateway(
        scripted_gateway.addresses, scripted_gateway.setup, core_key=new_key(algorithms.USUAL)
    )


def service(taken: str, sent: list[str]) -> Callable[[str], Exchange]:
    """Takes tokens of one algorithm, and notes the algorithm of each token that comes."""

    def send(token: str) -> Exchange:
        sent.append(jwt.get_unverified_header(token)["alg"])
        return Exchange(
            step="operation", request=REQUEST, answer=Answer(status=200 if sent[-1] == taken else 401)
        )

    return send


def settled(gateway: ScriptedGateway, taken: str, *, told: bool = False) -> tuple[int | None, list[str]]:
    sent: list[str] = []
    send, token = service(taken, sent), gateway.access_token("alice")
    answer = Algorithms(gateway, told=told).settle(token, send(token), send)
    return answer.status, sent


def test_service_that_takes_rs256_is_asked_once(scripted: ScriptedGateway) -> None:
    assert settled(scripted, "RS256") == (200, ["RS256"])
    assert len(scripted.core_keys) == 1


@pytest.mark.parametrize("algorithm", ["ES256", "PS256", "EdDSA"])
def test_algorithm_that_the_service_takes_stays(scripted: ScriptedGateway, algorithm: str) -> None:
    status, sent = settled(scripted, algorithm)
    assert (status, sent[-1]) == (200, algorithm)
    assert [key.algorithm for key in scripted.core_keys] == [algorithm]
    assert scripted.resource_key.algorithm == algorithm


def test_service_that_takes_no_token_keeps_the_usual_key(
    scripted: ScriptedGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(algorithms, "KEY_FOUND_S", 0.1)
    monkeypatch.setattr(algorithms, "_PAUSE_S", 0.01)
    status, sent = settled(scripted, "none of them")
    assert status == 401
    assert {"ES256", "PS256", "EdDSA"} <= set(sent)
    assert [key.algorithm for key in scripted.core_keys] == ["RS256"]


def test_algorithm_that_was_told_is_the_only_one(scripted: ScriptedGateway) -> None:
    assert settled(scripted, "ES256", told=True) == (401, ["RS256"])


@pytest.mark.parametrize(
    "changes", [{"aud": ["https://another.example"]}, {"aud": None}, {"iss": "https://another.example"}]
)
def test_token_that_is_not_for_the_service_settles_nothing(
    scripted: ScriptedGateway, changes: dict[str, object]
) -> None:
    """The first call of a run may have such a token, and no algorithm would make the service accept it."""
    settling, sent = Algorithms(scripted, told=False), list[str]()
    refused = Exchange(step="operation", request=REQUEST, answer=Answer(status=401))
    send = service("ES256", sent)

    assert settling.settle(scripted.access_token("alice", **changes), refused, send) is refused
    assert sent == []
    assert settling.settle(scripted.access_token("alice"), refused, send).status == 200


def test_service_in_trouble_and_a_token_that_nobody_issued_settle_nothing(scripted: ScriptedGateway) -> None:
    settling, sent = Algorithms(scripted, told=False), list[str]()
    refused = Exchange(step="operation", request=REQUEST, answer=Answer(status=401))
    trouble = Exchange(step="operation", request=REQUEST, answer=Answer(status=500))
    send, good = service("ES256", sent), scripted.access_token("alice")

    assert settling.settle("garbage", refused, send) is refused
    assert settling.settle(scripted.access_token("alice", exp=1), refused, send) is refused
    assert settling.settle(good, trouble, send) is trouble
    assert sent == []
    assert settling.settle(good, refused, send).status == 200
