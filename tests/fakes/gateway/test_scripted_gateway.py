"""A scripted gateway does to a call what the script says of it, and its listener shows what it is told to."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from functools import partial

import httpx
import pytest

from gateproof.fakes.gateway.application import application, base_routes, core_routes, merchant_routes
from gateproof.fakes.gateway.gateway import Addresses, ScriptedGateway, Setup
from gateproof.fakes.gateway.keys import new_key
from gateproof.fakes.gateway.running import Loop
from gateproof.fakes.gateway.script import Answer, Endpoint
from gateproof.fakes.listener import SwitchableListener

INDICATOR = "https://api.merchant.example/v1"
World = tuple[ScriptedGateway, SwitchableListener, Loop]


@pytest.fixture(scope="module")
def key() -> object:
    return new_key("ES256")


@pytest.fixture
def world(key: object) -> Iterator[World]:
    with Loop() as loop:
        setup = Setup(
            project_id="prj_1",
            resource_id="res_1",
            indicator=INDICATOR,
            scopes=("orders:read",),
            proxy_client_id="proxy_1",
            proxy_client_secret="a-secret-of-tests",
        )
        where = Addresses(
            base_url="http://127.0.0.1", core_url="http://127.0.0.1", merchant_api_url="http://127.0.0.1/api"
        )
        gateway = ScriptedGateway(where, setup, core_key=key)  # type: ignore[arg-type]
        routes = (base_routes(gateway), core_routes(gateway), merchant_routes(gateway))
        listener = loop.opened(partial(_opened, application(gateway.script, gateway.journal, *routes)))
        yield gateway, listener, loop


async def _opened(app: object) -> SwitchableListener:
    listener = SwitchableListener(app, host="127.0.0.1")  # type: ignore[arg-type]
    await listener.open(None)
    return listener


def orders(listener: SwitchableListener, token: str) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.get(f"http://{listener.netloc}/api/orders", headers=headers, timeout=20, trust_env=False)


def test_answer_for_one_caller_is_nobody_elses(
    world: World,
) -> None:
    gateway, listener, _ = world
    alice, bob = gateway.merchant_token("alice"), gateway.merchant_token("bob")
    gateway.script.always(Endpoint.MERCHANT_API, Answer(status=500, whose=alice))

    assert orders(listener, alice).status_code == 500
    assert orders(listener, bob).json()["orders"] == gateway.orders_of("bob")


def test_head_is_answered_like_get_and_is_no_call_of_the_endpoint(
    world: World,
) -> None:
    gateway, listener, _ = world
    url = f"http://{listener.netloc}/res_1/.well-known/openid-configuration"
    gateway.script.tape(Endpoint.DISCOVERY, [Answer(status=503)])
    head, get = (httpx.request(method, url, timeout=20, trust_env=False) for method in ("HEAD", "GET"))
    nowhere = httpx.head(f"http://{listener.netloc}/nowhere", timeout=20, trust_env=False)

    assert (head.status_code, head.content, nowhere.status_code) == (200, b"", 404)
    assert get.status_code == 503
    calls = gateway.journal.since()
    assert [each.endpoint for each in calls] == [Endpoint.ELSEWHERE, Endpoint.DISCOVERY, Endpoint.ELSEWHERE]


def test_call_that_hangs_is_let_go_when_the_script_is_cleared(
    world: World,
) -> None:
    gateway, listener, _ = world
    token, ended = gateway.merchant_token("alice"), threading.Event()
    gateway.script.always(Endpoint.MERCHANT_API, Answer(hangs=True))

    def calling() -> None:
        with pytest.raises(httpx.HTTPError):
            orders(listener, token)
        ended.set()

    caller = threading.Thread(target=calling)
    caller.start()
    deadline = time.monotonic() + 10
    while not gateway.journal.since(0, Endpoint.MERCHANT_API) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not ended.is_set()
    gateway.script.clear()
    caller.join(10)

    assert ended.is_set()
    assert orders(listener, token).status_code == 200


def test_listener_counts_connections_and_shuts(world: World) -> None:
    gateway, listener, loop = world
    token = gateway.merchant_token("alice")
    assert orders(listener, token).status_code == 200
    port = listener.port

    assert loop.run(listener.shut()) == 1
    with pytest.raises(httpx.ConnectError):
        orders(listener, token)
    loop.run(listener.open(None))
    assert (listener.port, orders(listener, token).status_code) == (port, 200)


def test_second_port_leads_to_the_same_application(
    world: World,
) -> None:
    gateway, listener, loop = world
    token, beside = gateway.merchant_token("alice"), listener.another_port()
    loop.run(beside.open(None))
    try:
        assert beside.port != listener.port
        assert orders(beside, token).status_code == 200
        assert listener.connections == 0
    finally:
        # On the loop: closing from another thread races with a connection that ends by itself.
        loop.run(beside.shut())


def test_answer_that_drips_comes_whole(world: World) -> None:
    gateway, listener, _ = world
    whole = orders(listener, "nobody's").content
    gateway.script.always(Endpoint.MERCHANT_API, Answer(drips_s=0.5))

    assert orders(listener, "nobody's").content == whole


def test_names_of_headers_may_have_capitals(world: World) -> None:
    gateway, listener, _ = world
    whole = orders(listener, "nobody's")
    gateway.script.always(
        Endpoint.MERCHANT_API, Answer(capitals=True, headers={"www-authenticate": "Bearer"})
    )
    answer = orders(listener, "nobody's")

    assert answer.content == whole.content
    names = {name for name, _ in answer.headers.raw}
    assert {b"WWW-Authenticate", b"Content-Type", b"Cache-Control", b"content-length"} <= names


def test_answer_with_another_status_keeps_its_body(world: World) -> None:
    gateway, listener, _ = world
    url = f"http://{listener.netloc}/res_1/.well-known/openid-configuration"
    gateway.script.tape(Endpoint.DISCOVERY, [Answer(as_status=201)])
    other, usual = (httpx.get(url, timeout=20, trust_env=False) for _ in range(2))

    assert (other.status_code, usual.status_code) == (201, 200)
    assert other.json() == usual.json()


def test_answer_that_breaks_off_is_none(world: World) -> None:
    gateway, listener, _ = world
    gateway.script.always(Endpoint.MERCHANT_API, Answer(breaks_off=True))

    with pytest.raises(httpx.TransportError):
        orders(listener, "nobody's")


@pytest.mark.parametrize("pieces", [1, 2])
def test_request_that_offers_http_2_keeps_its_body(world: World, pieces: int) -> None:
    """As Java's own client sends every first request in the clear."""
    _, listener, _ = world
    host, _, port = listener.netloc.rpartition(":")
    form = b"grant_type=client_credentials"
    head = (
        f"POST /oauth2/token HTTP/1.1\r\nHost: {listener.netloc}\r\nContent-Length: {len(form)}\r\n"
        "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAA\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n"
        "Authorization: Basic cHJveHlfMTphLXNlY3JldC1vZi10ZXN0cw==\r\n\r\n"
    ).encode()
    with socket.create_connection((host, int(port)), 10) as line:
        if pieces == 1:
            line.sendall(head + form)
        else:
            line.sendall(head)
            time.sleep(0.05)
            line.sendall(form)
        answer = line.recv(65536)

    assert answer.startswith(b"HTTP/1.1 200"), answer
