"""A service that takes another algorithm than RS256 is found out, with the first good token."""

from __future__ import annotations

from collections.abc import Callable

import jwt
import pytest

from gateproof.conformance.kit.service import algorithms
from gateproof.conformance.kit.service.algorithms import Algorithms
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.wire.exchange import Answer, Exchange, Request
from gateproof.fakes.gateway.gateway import ScriptedGateway
from gateproof.fakes.gateway.journal import Call
from gateproof.fakes.gateway.keys import new_key
from gateproof.fakes.gateway.script import Endpoint

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
    answer = Algorithms(gateway, told=told).settled(token, send)
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
    send = service("ES256", sent)

    assert settling.settled(scripted.access_token("alice", **changes), send).status == 401
    assert sent == ["RS256"]
    assert settling.settled(scripted.access_token("alice"), send).status == 200


def test_service_in_trouble_and_a_token_that_nobody_issued_settle_nothing(scripted: ScriptedGateway) -> None:
    settling, sent = Algorithms(scripted, told=False), list[str]()
    send, good = service("ES256", sent), scripted.access_token("alice")

    assert settling.settled("garbage", answering(401)).status == 401
    assert settling.settled(scripted.access_token("alice", exp=1), send).status == 401
    assert settling.settled(good, answering(500)).status == 500
    assert sent == ["RS256"]
    assert settling.settled(good, send).status == 200


def answering(status: int, meanwhile: Callable[[], None] = lambda: None) -> Callable[[str], Exchange]:
    """Answers every token with this status."""

    def send(_token: str) -> Exchange:
        meanwhile()
        return Exchange(step="operation", request=REQUEST, answer=Answer(status=status))

    return send


def called(gateway: ScriptedGateway, endpoint: Endpoint, status: int, token: str = "") -> None:
    """The service has sent the gateway a request."""
    call = Call(
        ordinal=1,
        endpoint=endpoint,
        method="POST",
        target="/",
        headers=(("authorization", f"Bearer {token}"),),
        body=b"",
        at_s=0.0,
        status=status,
    )
    gateway.journal.note(call)


def test_refusal_after_a_failed_call_settles_nothing(scripted: ScriptedGateway) -> None:
    """A service may answer 401 if it gets no Proxy token, whatever it thinks of the agent's token."""
    settling, good = Algorithms(scripted, told=False), scripted.access_token("alice")

    send = answering(401, lambda: called(scripted, Endpoint.TOKEN, 500))
    assert settling.settled(good, send).status == 401
    assert len(scripted.core_keys) == 1
    assert settling.settled(good, service("ES256", [])).status == 200


def test_refusal_after_a_proxy_token_came_is_one(scripted: ScriptedGateway) -> None:
    """A service may get its Proxy token before it looks at the agent's token."""
    sent: list[str] = []
    takes = service("ES256", sent)

    def send(token: str) -> Exchange:
        called(scripted, Endpoint.TOKEN, 200)
        return takes(token)

    assert Algorithms(scripted, told=False).settled(scripted.access_token("alice"), send).status == 200
    assert [key.algorithm for key in scripted.core_keys] == ["ES256"]


def test_copy_that_the_service_redeems_was_accepted(scripted: ScriptedGateway) -> None:
    def send(token: str) -> Exchange:
        if jwt.get_unverified_header(token)["alg"] == "PS256":
            called(scripted, Endpoint.REDEMPTION, 500, token)
        return Exchange(step="operation", request=REQUEST, answer=Answer(status=401))

    Algorithms(scripted, told=False).settled(scripted.access_token("alice"), send)

    assert [key.algorithm for key in scripted.core_keys] == ["PS256"]


def test_copy_at_which_the_service_breaks_is_not_kept(scripted: ScriptedGateway) -> None:
    def send(token: str) -> Exchange:
        status = {"RS256": 401, "ES256": 500}.get(jwt.get_unverified_header(token)["alg"], 200)
        return Exchange(step="operation", request=REQUEST, answer=Answer(status=status))

    Algorithms(scripted, told=False).settled(scripted.access_token("alice"), send)

    assert [key.algorithm for key in scripted.core_keys] == ["PS256"]


def test_server_without_sessions_keeps_the_key_that_it_took(scripted: ScriptedGateway) -> None:
    def send(token: str) -> Exchange:
        if jwt.get_unverified_header(token)["alg"] == "EdDSA":
            raise LeftOut("no sessions")
        return Exchange(step="operation", request=REQUEST, answer=Answer(status=401))

    with pytest.raises(LeftOut):
        Algorithms(scripted, told=False).settled(scripted.access_token("alice"), send)

    assert [key.algorithm for key in scripted.core_keys] == ["EdDSA"]


def test_token_that_is_accepted_at_the_second_try_keeps_its_key(scripted: ScriptedGateway) -> None:
    """A service may refuse the first token because it has yet to fetch the keys."""
    sent: list[str] = []

    def send(token: str) -> Exchange:
        sent.append(jwt.get_unverified_header(token)["alg"])
        status = 200 if sent.count("RS256") == 2 else 401
        return Exchange(step="operation", request=REQUEST, answer=Answer(status=status))

    assert Algorithms(scripted, told=False).settled(scripted.access_token("alice"), send).status == 200
    assert [key.algorithm for key in scripted.core_keys] == ["RS256"]
