"""The scripted service turns away whoever has no good token, and serves the others over HTTP and MCP."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateproof.fakes.gateway.gateway import Replied
from gateproof.fakes.gateway.journal import Call
from gateproof.fakes.gateway.script import Endpoint
from gateproof.fakes.orders_service import AMONG_OTHERS, QUOTED, UNQUOTED, OrdersService

GOOD = ("authorization", "Bearer good")


@pytest.fixture
def service() -> OrdersService:
    return OrdersService(
        "https://127.0.0.1:1",
        servers=["https://127.0.0.1:2/res_1"],
        scopes=["orders:read"],
        accepts=lambda token: token == "good",
    )


def call(*headers: tuple[str, str], body: bytes = b"") -> Call:
    return Call(
        ordinal=7, endpoint=Endpoint.OPERATION, method="POST", target="/", headers=headers, body=body, at_s=0
    )


def message(method: str, *headers: tuple[str, str], **more: Any) -> Call:
    body = json.dumps({"jsonrpc": "2.0", "method": method, **more}).encode()
    return call(GOOD, *headers, body=body)


@pytest.mark.parametrize("headers", [(), (("authorization", "Bearer bad"),), (("authorization", "good"),)])
def test_no_good_token_gets_the_challenge(
    service: OrdersService, headers: tuple[tuple[str, str], ...]
) -> None:
    answer = service.plain(call(*headers))

    assert answer.status == 401
    assert 'resource_metadata="https://127.0.0.1:1/.well-known/' in answer.headers["www-authenticate"]
    assert service.served == []


@pytest.mark.parametrize("challenge", [QUOTED, UNQUOTED, AMONG_OTHERS])
@pytest.mark.parametrize("says_why", [True, False])
def test_challenge_is_written_as_it_is_told(service: OrdersService, challenge: str, says_why: bool) -> None:
    service.challenge, service.says_why = challenge, says_why
    answers = [service.plain(call(*given)) for given in ((), (("authorization", "Bearer bad"),))]

    said = [answer.headers["www-authenticate"] for answer in answers]
    pointer = f"{service.url}{service.metadata_path}"
    assert said[0] == challenge.format(pointer=pointer, scope="openid orders:read")
    assert said[1] == said[0] + (', error="invalid_token"' if says_why else "")


def test_good_token_gets_the_orders(service: OrdersService) -> None:
    assert service.plain(call(GOOD)).document["orders"] == service.orders
    assert service.served == [7]


def test_head_is_answered_like_get_and_serves_no_orders(service: OrdersService) -> None:
    service.refuses_next = 1

    assert [service.head(call(*given)).status for given in ((), (GOOD,))] == [401, 200]
    assert (service.served, service.refuses_next) == ([], 1)


def test_metadata_name_the_service_and_its_gateway(service: OrdersService) -> None:
    document = service.metadata().document
    assert document["resource"] == "https://127.0.0.1:1"
    assert document["authorization_servers"] == ["https://127.0.0.1:2/res_1"]


def test_metadata_are_only_where_the_challenge_says_once_they_have_moved(service: OrdersService) -> None:
    def at(path: str) -> Replied:
        endpoint, answer = service.routes()["GET", path]
        assert endpoint is Endpoint.METADATA
        return answer(call())

    assert [at(path).status for path in (service.metadata_path, service.moved_path)] == [200, 404]
    service.metadata_moved = True
    assert [at(path).status for path in (service.metadata_path, service.moved_path)] == [404, 200]
    assert f"{service.url}{service.moved_path}" in service.plain(call()).headers["www-authenticate"]


def test_tool_call_needs_a_session(service: OrdersService) -> None:
    asked = {"id": 2, "params": {"name": "list_orders", "arguments": {}}}
    met = service.mcp(message("initialize", id=1, params={"protocolVersion": "2025-03-26"}))
    session = ("mcp-session-id", met.headers["mcp-session-id"])

    assert met.document["result"]["protocolVersion"] == "2025-03-26"
    without = service.mcp(message("tools/call", **asked))
    assert (without.status, without.document["error"]["code"]) == (400, -32600)
    without = service.mcp(message("server/discover", id=3))
    assert (without.status, without.document["error"]["code"]) == (400, -32601)
    assert service.mcp(message("tools/call", ("mcp-session-id", "unknown"), **asked)).status == 404
    assert service.mcp(message("notifications/initialized", session)).status == 202
    assert service.mcp(message("tools/list", session, id=3)).document["result"]["tools"]
    called: Replied = service.mcp(message("tools/call", session, **asked))
    assert service.orders[0]["id"] in called.document["result"]["content"][0]["text"]
    assert service.mcp(call(body=b"{}")).status == 401


def several(*messages: dict[str, Any]) -> bytes:
    return json.dumps([{"jsonrpc": "2.0", **message} for message in messages]).encode()


@pytest.mark.parametrize("revision", ["2025-03-26", "2025-06-18"])
def test_several_messages_at_once_are_for_one_revision(service: OrdersService, revision: str) -> None:
    met = service.mcp(message("initialize", id=1, params={"protocolVersion": revision}))
    session = ("mcp-session-id", met.headers["mcp-session-id"])
    called = {"id": 2, "method": "tools/call", "params": {"name": "list_orders"}}
    told, pinged = {"method": "notifications/initialized"}, {"id": 3, "method": "ping"}
    both = service.mcp(call(GOOD, session, body=several(told, called, pinged)))
    none = service.mcp(call(GOOD, session, body=several(told)))

    if revision == "2025-06-18":
        assert (both.status, none.status, service.served) == (400, 400, [])
        return
    assert [each["id"] for each in json.loads(both.page or "")] == [2, 3]
    assert service.orders[0]["id"] in (both.page or "")
    assert (both.status, none.status, service.served) == (200, 202, [7])
    assert service.mcp(call(GOOD, session, body=b"[]")).status == 400
    assert service.mcp(call(session, body=several(called))).status == 401


def test_next_token_is_refused_where_the_orders_are_asked_for(service: OrdersService) -> None:
    service.refuses_next = 1
    met = service.mcp(message("initialize", id=1, params={}))
    session = ("mcp-session-id", met.headers["mcp-session-id"])
    asked = message("tools/call", session, id=2, params={"name": "list_orders"})

    assert [service.mcp(asked).status for _ in range(2)] == [401, 200]


def test_service_that_refuses_all_serves_nobody(service: OrdersService) -> None:
    service.refuses_all = True
    assert service.plain(call(GOOD)).status == 401


def test_accepted_call_may_be_sent_elsewhere(service: OrdersService) -> None:
    service.redirects_to = "https://localhost:9/orders"
    sent_on = service.plain(call(GOOD))
    assert (sent_on.status, sent_on.headers["location"]) == (307, "https://localhost:9/orders")
    service.redirect_status = 302
    assert service.plain(call(GOOD)).status == 302
    assert service.plain(call()).status == 401


def test_call_without_a_token_may_be_sent_elsewhere(service: OrdersService) -> None:
    service.redirects_without_token_to = "https://localhost:9/orders"
    sent_on = service.plain(call())
    assert (sent_on.status, sent_on.headers["location"]) == (307, "https://localhost:9/orders")
    assert [service.plain(call(each)).status for each in (GOOD, ("authorization", "Bearer bad"))] == [
        200,
        401,
    ]


def test_good_token_may_get_another_answer_for_the_stream(service: OrdersService) -> None:
    assert service.stream(call(GOOD)).status == 405
    service.stream_answer = Replied(status=302, headers={"location": "https://localhost:9/mcp"})
    assert [service.stream(call(*given)).status for given in ((GOOD,), ())] == [302, 401]


@pytest.mark.parametrize("revision", ["2025-03-26", "2025-06-18"])
def test_mcp_answers_name_links_in_revisions_that_have_them(service: OrdersService, revision: str) -> None:
    def answers() -> tuple[str, ...]:
        met = service.mcp(message("initialize", id=1, params={"protocolVersion": revision}))
        session = ("mcp-session-id", met.headers["mcp-session-id"])
        listed = service.mcp(message("tools/list", session, id=2))
        called = service.mcp(message("tools/call", session, id=3, params={"name": "list_orders"}))
        assert service.orders[0]["id"] in called.document["result"]["content"][0]["text"]
        return tuple(json.dumps(each.document) for each in (met, listed, called))

    assert not any("localhost:9" in each for each in answers())
    service.links_to = "https://localhost:9"
    named = ("localhost:9/service.png", "localhost:9/tool.png", "localhost:9/orders")
    has_links = revision == "2025-06-18"
    assert [name in each for name, each in zip(named, answers(), strict=True)] == [has_links] * 3
