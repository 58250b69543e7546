"""A tool call over MCP is three requests, and its answer is found in whatever form it comes."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from gateproof.conformance.kit.service.mcp_session import ServiceSession
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.targets.model import Operation
from gateproof.conformance.wire.exchange import Answer, Exchange, Request
from gateproof.conformance.wire.keyring import Keyring
from gateproof.conformance.wire.mcp import call_tool, ending, messages, posted, succeeded

RESULT = {"content": [{"type": "text", "text": "order-1"}]}


def event(message: Any, end: str = "\n") -> bytes:
    text = json.dumps(message, indent=1)
    return end.join(["event: message", *(f"data: {line}" for line in text.splitlines()), "", ""]).encode()


def server(answers: Callable[[dict[str, Any]], Answer]) -> tuple[Callable[..., Exchange], list[Request]]:
    seen: list[Request] = []

    def send(step: str, request: Request) -> Exchange:
        seen.append(request)
        return Exchange(step=step, request=request, answer=answers(json.loads(request.body)))

    return send, seen


def calling(send: Callable[..., Exchange]) -> Service:
    """A service whose tool is called in this way; nobody is heard who is listened to."""

    def overhear(step: str, request: Request, during: Callable[[], None]) -> Exchange:
        during()
        return Exchange(step=step, request=request)

    wire: Any = SimpleNamespace(send=send, read_while=overhear)
    return Service(
        service_url="https://orders.example",
        metadata_url="https://orders.example/metadata",
        operation=Operation(kind="mcp", path="/mcp", tool="list_orders"),
        wire=wire,
        patient=wire,
        keyring=Keyring(),
    )


def honest(message: dict[str, Any]) -> Answer:
    if message["method"] == "initialize":
        said = {"jsonrpc": "2.0", "id": message["id"], "result": {"protocolVersion": "2025-03-26"}}
        headers = (("Content-Type", "application/json"), ("mcp-session-id", "s-1"))
        return Answer(status=200, headers=headers, body=json.dumps(said).encode())
    if "id" not in message:
        return Answer(status=202)
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}
    said = {"jsonrpc": "2.0", "id": message["id"], "result": RESULT}
    body = b": hello\n\n" + event(progress) + event(said, "\r\n")
    return Answer(status=200, headers=(("Content-Type", "text/event-stream; charset=utf-8"),), body=body)


def test_call_carries_session_protocol_and_token() -> None:
    send, seen = server(honest)

    answer = call_tool(
        send, "https://orders.example/mcp", "list_orders", {}, (("Authorization", "Bearer t"),)
    )

    assert succeeded(answer)
    assert [json.loads(request.body)["method"] for request in seen] == [
        "initialize",
        "notifications/initialized",
        "tools/call",
    ]
    assert all(("Authorization", "Bearer t") in request.headers for request in seen)
    assert ("Mcp-Session-Id", "s-1") in seen[2].headers
    assert ("MCP-Protocol-Version", "2025-03-26") in seen[2].headers


def test_refusal_at_the_first_step_is_the_answer() -> None:
    send, seen = server(lambda _: Answer(status=401))

    assert call_tool(send, "https://orders.example/mcp", "list_orders", {}, ()).status == 401
    assert len(seen) == 1


@pytest.mark.parametrize(
    "said", [{"error": {"code": -1, "message": "no"}}, {"result": {"isError": True, "content": []}}, {}]
)
def test_error_in_a_200_is_no_success(said: dict[str, Any]) -> None:
    def answers(message: dict[str, Any]) -> Answer:
        if message["method"] != "tools/call":
            return honest(message)
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}).encode()
        return Answer(status=200, headers=(("Content-Type", "application/json"),), body=body)

    assert not succeeded(call_tool(server(answers)[0], "https://orders.example/mcp", "list_orders", {}, ()))


def test_stream_is_read_until_the_answer_is_there() -> None:
    send, seen = server(honest)
    call_tool(send, "https://orders.example/mcp", "list_orders", {}, ())
    until = seen[2].until
    assert until is not None

    whole = event({"jsonrpc": "2.0", "id": 2, "result": RESULT})
    assert not until(event({"jsonrpc": "2.0", "method": "notifications/message"}))
    assert not until(whole[:-2])
    assert until(b": keep-alive\n\n" + whole)


def test_garbage_holds_no_message() -> None:
    assert messages(b"\xff{", "application/json") == []
    assert messages(b"data: {\n\ndata:\n\nid: 1\n\n", "text/event-stream") == []


def test_every_request_of_a_session_has_a_number_of_its_own() -> None:
    send, seen = server(honest)
    session = ServiceSession(service=calling(send), headers=())

    answers = [session.call("t"), *session.other_messages("t"), session.call(None)]

    messages = [json.loads(request.body) for request in seen]
    assert [message["id"] for message in messages] == list(range(2, 2 + len(messages)))
    assert all(succeeded(answer) for answer in answers if answer.request.method == "POST")


def test_calls_that_are_alike_have_a_number_each() -> None:
    send, _ = server(honest)
    session = ServiceSession(service=calling(send), headers=(("Mcp-Session-Id", "s-1"),))
    session.call("t")
    alike = session.lone_call("t")

    each = session.each_by_itself({"one": alike, "two": alike})

    numbers = [json.loads(request.body)["id"] for request in (alike, *each.values())]
    assert numbers == [3, 4, 5]
    for number, request in zip(numbers, (alike, *each.values()), strict=True):
        assert request.until is not None
        assert request.until(event({"jsonrpc": "2.0", "id": number, "result": RESULT}))
        assert not request.until(event({"jsonrpc": "2.0", "id": number + 1, "result": RESULT}))


def test_what_is_listed_with_a_token_is_read_without_one() -> None:
    def offering(message: dict[str, Any]) -> Answer:
        results = {
            "resources/list": {"resources": [{"uri": "orders://last"}]},
            "prompts/list": {"prompts": [{"name": "reorder"}]},
        }
        said = {"jsonrpc": "2.0", "id": message["id"], "result": results.get(message["method"], {})}
        kind = (("Content-Type", "application/json"),)
        return Answer(status=200, headers=kind, body=json.dumps(said).encode())

    send, _ = server(offering)
    session = ServiceSession(service=calling(send), headers=(("Mcp-Session-Id", "s-1"),))

    asked = [answer.request for answer in session.offered_without_token("t")]

    assert not any(name == "Authorization" for request in asked for name, _ in request.headers)
    assert all(("Mcp-Session-Id", "s-1") in request.headers for request in asked)
    methods = [json.loads(request.body)["method"] for request in asked]
    assert {"resources/list", "resources/read", "prompts/list", "prompts/get"} <= set(methods)


def test_batch_has_the_call_alone_and_may_name_no_session() -> None:
    session = ServiceSession(service=calling(server(honest)[0]), headers=(("Mcp-Session-Id", "s-1"),))

    inside, outside = session.batch(None), session.without_id().batch(None)

    (call,) = json.loads(inside.body)
    assert call["method"] == "tools/call"
    assert [dict(request.headers).get("Mcp-Session-Id") for request in (inside, outside)] == ["s-1", None]


def test_log_and_progress_are_asked_for() -> None:
    send, seen = server(honest)

    list(ServiceSession(service=calling(send), headers=()).other_messages("t"))

    level, call = (json.loads(request.body) for request in seen[-2:])
    assert (level["method"], level["params"]) == ("logging/setLevel", {"level": "debug"})
    assert (call["method"], "progressToken" in call["params"]["_meta"]) == ("tools/call", True)


def test_odd_message_is_answered_under_whatever_number() -> None:
    request = posted("https://orders.example/mcp", (), {"id": [None]})
    progress = event({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}})
    refusal = event({"jsonrpc": "2.0", "id": None, "error": {"code": -32600}})

    assert request.until is not None
    assert not request.until(progress)
    assert request.until(progress + refusal)
    assert request.until(event([{"jsonrpc": "2.0", "id": 7, "result": {}}]))


def test_session_that_began_can_be_ended_and_no_other_answer_is_one() -> None:
    send, _ = server(honest)
    begun: list[Exchange] = []

    def kept(step: str, request: Request) -> Exchange:
        begun.append(send(step, request))
        return begun[-1]

    call_tool(kept, "https://orders.example/mcp", "list_orders", {}, (("Authorization", "Bearer a.b.c"),))
    (over,) = [request for request in map(ending, begun) if request is not None]
    assert (over.method, over.url) == ("DELETE", "https://orders.example/mcp")
    assert over.headers == (("Authorization", "Bearer a.b.c"), ("Mcp-Session-Id", "s-1"))


@pytest.mark.parametrize("code", [-32601, -32022])
def test_a_server_without_initialize_is_left_out(code: int) -> None:
    def answer(message: dict[str, Any]) -> Answer:
        said = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": "no"}}
        headers = (("Content-Type", "application/json"),)
        return Answer(status=200, headers=headers, body=json.dumps(said).encode())

    send, _ = server(answer)

    with pytest.raises(LeftOut, match="initialize"):
        calling(send).serve("token")


def test_another_error_of_initialize_is_an_answer() -> None:
    def answer(message: dict[str, Any]) -> Answer:
        said = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32603, "message": "no"}}
        headers = (("Content-Type", "application/json"),)
        return Answer(status=200, headers=headers, body=json.dumps(said).encode())

    send, _ = server(answer)

    assert calling(send).serve("token").status == 200
