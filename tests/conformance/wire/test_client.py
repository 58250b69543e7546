"""The harness's HTTP client shows what came, follows nothing, goes nowhere else and gives up in time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from gateproof.conformance.wire.client import RateLimited, TargetSilent, Wire
from gateproof.conformance.wire.exchange import Exchange, Request
from gateproof.conformance.wire.route import Place, origin

Answering = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def server(answer: Answering) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.daemon_threads = True
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{running.server_address[1]}"
        finally:
            running.shutdown()
            thread.join()


def reply(
    handler: BaseHTTPRequestHandler, status: int, *headers: tuple[str, str], body: bytes = b"{}"
) -> None:
    handler.send_response(status)
    for name, value in headers:
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


@contextmanager
def wire(url: str, *, timeout_s: float = 5.0, **settings: object) -> Iterator[tuple[Wire, list[Exchange]]]:
    seen: list[Exchange] = []
    place = Place(origins=frozenset({origin(url)}), headers={"X-Staging": "1"})
    opened = Wire((place,), timeout_s=timeout_s, record=seen.append, **settings)  # type: ignore[arg-type]
    try:
        yield opened, seen
    finally:
        opened.close()


def get(url: str) -> Request:
    return Request(method="GET", url=url, headers=(("Accept", "application/json"),))


def test_answer_is_recorded_as_it_came() -> None:
    with (
        server(lambda to: reply(to, 401, ("WWW-Authenticate", "A"), ("www-authenticate", "B"))) as url,
        wire(url) as (client, seen),
    ):
        exchange = client.send("asking", get(url))
    assert exchange.status == 401
    assert exchange.answer is not None
    assert exchange.answer.headers_named("WWW-AUTHENTICATE") == ("A", "B")
    assert seen == [exchange]


def test_target_headers_are_sent_along() -> None:
    with (
        server(lambda to: reply(to, 200, body=(to.headers["X-Staging"] or "").encode())) as url,
        wire(url) as (client, _),
    ):
        exchange = client.send("asking", get(url))
    assert exchange.answer is not None
    assert exchange.answer.text() == "1"


def test_redirect_is_an_answer_and_is_not_followed() -> None:
    with server(lambda to: reply(to, 302, ("Location", "/elsewhere"))) as url, wire(url) as (client, seen):
        assert client.send("asking", get(url)).status == 302
    assert len(seen) == 1


def test_cookies_are_left_to_the_browsers() -> None:
    def answer(to: BaseHTTPRequestHandler) -> None:
        reply(to, 200, ("Set-Cookie", "session=1; Path=/"), body=(to.headers["Cookie"] or "none").encode())

    with server(answer) as url, wire(url) as (client, _):
        answers = [client.send("asking", get(url)).answer for _ in range(2)]
    assert [answer.text() for answer in answers if answer is not None] == ["none", "none"]


def test_other_hosts_are_never_asked() -> None:
    with wire("http://127.0.0.1:1") as (client, seen):
        assert not client.may_reach("http://127.0.0.1:2/")
        with pytest.raises(ValueError, match="neither the target nor one of the fakes"):
            client.send("asking", get("http://127.0.0.1:2/"))
    assert seen == []


def test_refused_connection_is_an_exchange_without_an_answer() -> None:
    with wire("http://127.0.0.1:1") as (client, seen):
        exchange = client.send("asking", get("http://127.0.0.1:1/"))
    assert exchange.answer is None
    assert exchange.failure == "the connection was refused"
    assert seen == [exchange]


@pytest.mark.parametrize("limit", [(429, ()), (429, (("Retry-After", "2"),)), (503, (("Retry-After", "1"),))])
def test_rate_limit_is_waited_out(limit: tuple[int, tuple[tuple[str, str], ...]]) -> None:
    left, pauses = [limit, limit], []

    def answer(to: BaseHTTPRequestHandler) -> None:
        status, headers = left.pop() if left else (200, ())
        reply(to, status, *headers)

    with server(answer) as url, wire(url, sleep=pauses.append) as (client, seen):
        assert client.send("asking", get(url)).status == 200
    assert len(pauses) == 2
    assert [len(exchange.retries) for exchange in seen] == [2]


def test_endless_rate_limit_is_no_answer() -> None:
    pauses: list[float] = []
    with (
        server(lambda to: reply(to, 429, ("Retry-After", "9"))) as url,
        wire(url, sleep=pauses.append) as (client, _),
        pytest.raises(RateLimited),
    ):
        client.send("asking", get(url))
    assert sum(pauses) <= 60


def test_plain_503_is_an_answer() -> None:
    with server(lambda to: reply(to, 503)) as url, wire(url) as (client, _):
        assert client.send("asking", get(url)).status == 503


def test_target_that_stays_silent_is_given_up() -> None:
    release = threading.Event()

    def hang(_: BaseHTTPRequestHandler) -> None:
        release.wait(10)

    with server(hang) as url, wire(url, timeout_s=0.1) as (client, seen):
        try:
            for _ in range(3):
                assert client.send("asking", get(url)).answer is None
            with pytest.raises(TargetSilent):
                client.send("asking", get(url))
        finally:
            release.set()
    assert len(seen) == 3


def test_volley_ends_once_nobody_answers_it() -> None:
    release, asked = threading.Event(), []

    def hang_after_ten(to: BaseHTTPRequestHandler) -> None:
        asked.append(to.path)
        if len(asked) <= 10:
            reply(to, 200)
        else:
            release.wait(30)

    with server(hang_after_ten) as url, wire(url, timeout_s=1.5) as (client, seen):
        try:
            assert client.send_many([get(url)] * 100, at_once=4) == 10
            assert client.send("asking", get(url)).answer is None
        finally:
            release.set()
    # Those that were on their way when the last of four in a row ran out of time, and no others.
    assert len(asked) <= 10 + 2 * 4 + 1
    assert len(seen) == 1


def test_target_that_fell_silent_is_asked_once_more_after_ever_more_checks() -> None:
    release = threading.Event()
    with (
        server(lambda to: reply(to, 200) if release.is_set() else release.wait(30) and None) as url,
        wire(url, timeout_s=0.4) as (client, seen),
    ):
        try:
            asked = []
            for check in range(1, 17):
                client.begin()
                before = len(seen)
                with suppress(TargetSilent):
                    for _ in range(4):
                        client.send("asking", get(url))
                asked.append((check, len(seen) - before))
        finally:
            release.set()
        client.begin()  # the sixteenth that begins in silence
        assert [client.send("asking", get(url)).status for _ in range(4)] == [200] * 4
    assert [each for each in asked if each[1]] == [(1, 3), (2, 1), (5, 1)]


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("https://Host.example/x", "https://host.example:443"),
        ("http://h.example:80", "http://h.example:80"),
        ("https://[::1]:8443/", "https://::1:8443"),
    ],
)
def test_origins_are_compared_in_normal_form(url: str, normal: str) -> None:
    assert origin(url) == normal


def test_one_request_alone_is_not_made_to_wait() -> None:
    later = ("Retry-After", "3600")
    with server(lambda handler: reply(handler, 503, later)) as url, wire(url) as (opened, seen):
        answer = opened.send_once("redemption", Request(method="GET", url=url))

    assert (answer.status, answer.retries) == (503, ())
    assert seen == [answer]


def test_one_party_can_be_reached_by_another_way() -> None:
    def named(handler: BaseHTTPRequestHandler) -> None:
        reply(handler, 200, body=handler.headers["Host"].encode())

    with (
        server(named) as url,
        server(lambda handler: reply(handler, 404)) as other,
        wire(other) as (opened, _),
    ):
        with opened.through(other, url.removeprefix("http://")):
            moved = opened.send("discovery", Request(method="GET", url=other))
        back = opened.send("discovery", Request(method="GET", url=other))
        with pytest.raises(ValueError, match="neither"), opened.through("http://elsewhere.example", "x:1"):
            pass

    assert moved.answer is not None
    assert moved.answer.text() == other.removeprefix("http://")
    assert back.status == 404
