"""A scripted gateway does to a call what the script says of it, and its door shows what it is told to."""

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
from gateproof.fakes.listener import Door

INDICATOR = "https://api.merchant.example/v1"


@pytest.fixture(scope="module")
def key() -> object:
    return new_key("ES256")


@pytest.fixture
def world(key: object) -> Iterator[tuple[ScriptedGateway, Door, Loop]]:
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
        door = loop.opened(partial(_opened, application(gateway.script, gateway.journal, *routes)))
        yield gateway, door, loop


async def _opened(app: object) -> Door:
    door = Door(app, host="127.0.0.1")  # type: ignore[arg-type]
    await door.open(None)
    return door


def orders(door: Door, token: str) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.get(f"http://{door.netloc}/api/orders", headers=headers, timeout=20, trust_env=False)


def test_answer_for_one_caller_is_nobody_elses(world: tuple[ScriptedGateway, Door, Loop]) -> None:
    gateway, door, _ = world
    alice, bob = gateway.merchant_token("alice"), gateway.merchant_token("bob")
    gateway.script.always(Endpoint.MERCHANT_API, Answer(status=500, whose=alice))

    assert orders(door, alice).status_code == 500
    assert orders(door, bob).json()["orders"] == gateway.orders_of("bob")


def test_head_is_answered_like_get_and_is_no_call_of_the_endpoint(
    world: tuple[ScriptedGateway, Door, Loop],
) -> None:
    gateway, door, _ = world
    url = f"http://{door.netloc}/res_1/.well-known/openid-configuration"
    gateway.script.tape(Endpoint.DISCOVERY, [Answer(status=503)])
    head, get = (httpx.request(method, url, timeout=20, trust_env=False) for method in ("HEAD", "GET"))
    nowhere = httpx.head(f"http://{door.netloc}/nowhere", timeout=20, trust_env=False)

    assert (head.status_code, head.content, nowhere.status_code) == (200, b"", 404)
    assert get.status_code == 503
    calls = gateway.journal.since()
    assert [each.endpoint for each in calls] == [Endpoint.ELSEWHERE, Endpoint.DISCOVERY, Endpoint.ELSEWHERE]


def test_call_that_hangs_is_let_go_when_the_script_is_cleared(
    world: tuple[ScriptedGateway, Door, Loop],
) -> None:
    gateway, door, _ = world
    token, ended = gateway.merchant_token("alice"), threading.Event()
    gateway.script.always(Endpoint.MERCHANT_API, Answer(hangs=True))

    def calling() -> None:
        with pytest.raises(httpx.HTTPError):
            orders(door, token)
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
    assert orders(door, token).status_code == 200


def test_door_counts_who_came_and_shuts(world: tuple[ScriptedGateway, Door, Loop]) -> None:
    gateway, door, loop = world
    token = gateway.merchant_token("alice")
    assert orders(door, token).status_code == 200
    port = door.port

    assert loop.run(door.shut()) == 1
    with pytest.raises(httpx.ConnectError):
        orders(door, token)
    loop.run(door.open(None))
    assert (door.port, orders(door, token).status_code) == (port, 200)


def test_door_beside_another_leads_to_the_same(world: tuple[ScriptedGateway, Door, Loop]) -> None:
    gateway, door, loop = world
    token, beside = gateway.merchant_token("alice"), door.beside()
    loop.run(beside.open(None))
    try:
        assert beside.port != door.port
        assert orders(beside, token).status_code == 200
        assert door.visits == 0
    finally:
        beside.close()


def test_answer_that_drips_comes_whole(world: tuple[ScriptedGateway, Door, Loop]) -> None:
    gateway, door, _ = world
    whole = orders(door, "nobody's").content
    gateway.script.always(Endpoint.MERCHANT_API, Answer(drips_s=0.5))

    assert orders(door, "nobody's").content == whole


def test_answer_that_breaks_off_is_none(world: tuple[ScriptedGateway, Door, Loop]) -> None:
    gateway, door, _ = world
    gateway.script.always(Endpoint.MERCHANT_API, Answer(breaks_off=True))

    with pytest.raises(httpx.TransportError):
        orders(door, "nobody's")


@pytest.mark.parametrize("pieces", [1, 2])
def test_request_that_offers_http_2_keeps_its_body(
    world: tuple[ScriptedGateway, Door, Loop], pieces: int
) -> None:
    """As Java's own client sends every first request in the clear."""
    _, door, _ = world
    host, _, port = door.netloc.rpartition(":")
    form = b"grant_type=client_credentials"
    head = (
        f"POST /oauth2/token HTTP/1.1\r\nHost: {door.netloc}\r\nContent-Length: {len(form)}\r\n"
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
