"""Racers are released together, none is lost without being told, and nobody waits for one who stays away."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from itertools import count
from pathlib import Path

import pytest

from gateproof.conformance.kit.authority import Authority, Certificate
from gateproof.conformance.wire import race
from gateproof.conformance.wire.client import TargetSilent, Wire
from gateproof.conformance.wire.connections import DISTRUSTED
from gateproof.conformance.wire.exchange import Exchange, Request
from gateproof.conformance.wire.route import Place, origin
from gateproof.conformance.wire.sealing import SealingStream

RACERS = 8
Handle = Callable[[BaseHTTPRequestHandler, bytes], tuple[int, dict[str, str]]]


class Seen:
    """Which connections requests came over."""

    def __init__(self) -> None:
        self.peers: list[object] = []


@contextmanager
def serving(
    handle: Handle = lambda _handler, _body: (200, {}),
    *,
    protocol: str = "HTTP/1.1",
    one_by_one: bool = False,
    secure: Certificate | None = None,
    length: bool = True,
) -> Iterator[tuple[str, Seen]]:
    seen = Seen()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = protocol

        def do_POST(self) -> None:
            seen.peers.append(self.client_address)
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, headers = handle(self, body)
            self.send_response(status)
            for name, value in {**headers, **({"Content-Length": "2"} if length else {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            pass

    kind = HTTPServer if one_by_one else ThreadingHTTPServer
    with kind(("127.0.0.1", 0), Handler) as running:
        if secure is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(secure.cert_file, secure.key_file)
            running.socket = context.wrap_socket(running.socket, server_side=True)
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            scheme = "http" if secure is None else "https"
            yield f"{scheme}://127.0.0.1:{running.server_address[1]}", seen
        finally:
            running.shutdown()
            thread.join()


@contextmanager
def wire(url: str, ca_file: str | None = None, **settings: object) -> Iterator[tuple[Wire, list[Exchange]]]:
    told: list[Exchange] = []
    place = Place(origins=frozenset({origin(url)}), ca_file=ca_file)
    opened = Wire((place,), **{"timeout_s": 5.0, "record": told.append} | settings)  # type: ignore[arg-type]
    try:
        yield opened, told
    finally:
        opened.close()


def posts(url: str, number: int = RACERS) -> list[Request]:
    return [Request(method="POST", url=url, body=f"racer={place:02}".encode()) for place in range(number)]


def test_all_last_bytes_go_out_after_all_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    write, send = SealingStream.write, race._sent

    def written_first(stream: SealingStream, buffer: bytes, timeout: float | None = None) -> None:
        written.append(len(buffer))
        write(stream, buffer, timeout)

    def sent(line: socket.socket, octets: bytes) -> None:
        written.append(len(octets))
        send(line, octets)

    monkeypatch.setattr(SealingStream, "write", written_first)
    monkeypatch.setattr(race, "_sent", sent)
    with serving() as (url, _), wire(url) as (opened, _told):
        raced = opened.race("race", posts(url))
    assert [answer.status for answer in raced.answers] == [200] * RACERS
    assert min(written[:RACERS]) > race.HELD_BACK
    assert written[RACERS:] == [1] * RACERS * race.HELD_BACK


def test_requests_that_were_all_sent_before_an_answer_came_overlapped() -> None:
    everybody = threading.Barrier(RACERS, timeout=10)

    def together(*_: object) -> tuple[int, dict[str, str]]:
        everybody.wait()
        # The sockets are asked right after the last byte.
        time.sleep(0.05)
        return 200, {}

    with serving(together) as (url, _), wire(url) as (opened, _told):
        assert opened.race("race", posts(url)).overlapped


def test_an_answer_that_comes_before_the_last_request_is_sent_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answered, send, calls = threading.Event(), race._sent, count(1)

    def sent(line: socket.socket, octets: bytes) -> None:
        send(line, octets)
        # The first request is whole.
        if next(calls) == (race.HELD_BACK - 1) * RACERS + 1:
            assert answered.wait(5)
            # It is on its way: nobody here has read it.
            time.sleep(0.05)

    def answer(*_: object) -> tuple[int, dict[str, str]]:
        threading.Timer(0.02, answered.set).start()
        return 200, {}

    monkeypatch.setattr(race, "_sent", sent)
    with serving(answer) as (url, _), wire(url) as (opened, _told):
        raced = opened.race("race", posts(url))
    assert not raced.overlapped
    assert [answer.status for answer in raced.answers] == [200] * RACERS


@pytest.mark.parametrize(("others", "overlapped"), [(race.FEWEST - 1, False), (race.FEWEST, True)])
def test_one_racer_may_find_nobody_where_enough_are_left(others: int, overlapped: bool) -> None:
    def late(*_: object) -> tuple[int, dict[str, str]]:
        time.sleep(0.1)
        return 200, {}

    with socket.create_server(("127.0.0.1", 0)) as taken:
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with serving(late) as (url, _), wire(url) as (opened, _told), opened.also(nobody, ca_file=""):
        raced = opened.race("race", [*posts(url, others), *posts(nobody, 1)])
    assert raced.overlapped is overlapped
    assert [answer.status for answer in raced.answers] == [*[200] * others, None]


def test_every_racer_is_on_the_record_with_its_own_answer() -> None:
    def echo(_: BaseHTTPRequestHandler, body: bytes) -> tuple[int, dict[str, str]]:
        return 200, {"X-Racer": body.decode()}

    with serving(echo) as (url, _), wire(url) as (opened, told):
        answers = opened.race("race", posts(url)).answers
    assert [answer.header("X-Racer") for answer in answers] == [f"racer={n:02}" for n in range(RACERS)]
    assert list(answers) == told
    assert all(answer.at_s > 0 and answer.answer and answer.answer.elapsed_s >= 0 for answer in answers)


def test_requests_without_a_body_race_too() -> None:
    with serving() as (url, _), wire(url) as (opened, _told):
        answers = opened.race("race", [Request(method="GET", url=url)] * RACERS).answers
    # The server knows no GET.
    assert [answer.status for answer in answers] == [501] * RACERS


@pytest.mark.parametrize("kept", [False, True])
def test_connections_are_fresh_unless_they_are_to_have_served_before(
    kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateproof.conformance.wire.connections.KEEPALIVE_S", 60.0)
    with serving() as (url, seen), wire(url) as (opened, _):
        opened.race("warming up", posts(url), kept=True)
        opened.race("race", posts(url), kept=kept)
    assert len(set(seen.peers)) == (RACERS if kept else 2 * RACERS)


def test_a_server_without_keep_alive_is_raced_on_fresh_connections() -> None:
    with serving(protocol="HTTP/1.0") as (url, seen), wire(url) as (opened, _):
        opened.race("warming up", posts(url), kept=True)
        answers = opened.race("race", posts(url), kept=True).answers
    assert [answer.status for answer in answers] == [200] * RACERS
    assert len(set(seen.peers)) == 2 * RACERS


def test_a_server_that_takes_one_connection_at_a_time_answers_everybody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(race, "PATIENCE_S", 0.1)
    with serving(protocol="HTTP/1.0", one_by_one=True) as (url, _), wire(url) as (opened, _told):
        answers = opened.race("race", posts(url)).answers
    assert [answer.status for answer in answers] == [200] * RACERS


def test_racers_that_find_nobody_say_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with wire(url) as (opened, told):
        answers = opened.race("race", posts(url)).answers
    assert {answer.failure for answer in answers} == {"the connection was refused"}
    assert len(told) == RACERS


def test_a_server_that_says_no_before_the_end_is_heard() -> None:
    class Hasty(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(413)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Hasty) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        url = f"http://127.0.0.1:{running.server_address[1]}"
        with wire(url) as (opened, _):
            answers = opened.race("race", posts(url)).answers
        running.shutdown()
        thread.join()
    # One that is reset before it is read is a dropped one, and told as that.
    assert all(answer.status == 413 or answer.failure for answer in answers)


def test_whoever_meets_a_rate_limit_is_asked_again_alone() -> None:
    turned_away: list[bytes] = []

    def limited(_: BaseHTTPRequestHandler, body: bytes) -> tuple[int, dict[str, str]]:
        if body == b"racer=03" and not turned_away:
            turned_away.append(body)
            return 429, {"Retry-After": "0"}
        return 200, {}

    with serving(limited) as (url, _), wire(url) as (opened, told):
        answers = opened.race("race", posts(url)).answers
    assert [answer.status for answer in answers] == [200] * RACERS
    assert sorted(exchange.status or 0 for exchange in told) == [200] * RACERS + [429]
    assert [[each.status for each in answer.retries] for answer in answers if answer.retries] == [[429]]


@pytest.mark.parametrize(
    ("status", "later", "limited", "overlapped"),
    [
        (429, {"Retry-After": "0"}, RACERS // 2, True),
        (429, {"Retry-After": "0"}, RACERS - 1, False),
        (503, {"Retry-After": "0"}, RACERS - 2, True),
        (503, {}, RACERS // 2, True),
        (503, {}, RACERS // 2 + 1, False),
        (500, {}, 1, False),
    ],
)
def test_whoever_is_turned_away_took_no_part(
    status: int, later: dict[str, str], limited: int, overlapped: bool
) -> None:
    """The answer comes before their requests are whole. A race takes two, and as many as find no room."""
    turns = count()

    class Limiting(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            away = next(turns) < limited
            if not away:
                self.rfile.read(int(self.headers["Content-Length"]))
                time.sleep(0.05)
            self.send_response(status if away else 200)
            for name, value in {"Content-Length": "0", **later}.items():
                self.send_header(name, value)
            self.end_headers()
            self.close_connection = away

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Limiting) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        url = f"http://127.0.0.1:{running.server_address[1]}"
        with wire(url) as (opened, _):
            raced = opened.race("race", [replace(each, body=b"x" * 4000) for each in posts(url)])
        running.shutdown()
        thread.join()
    answered = [200] * (RACERS if later else RACERS - limited)
    assert [answer.status for answer in raced.answers if answer.status == 200] == answered
    assert raced.overlapped is overlapped


def test_silence_to_all_racers_counts_as_one_silence() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=2 * RACERS) as mute:
        url = f"http://127.0.0.1:{mute.getsockname()[1]}"
        with wire(url, timeout_s=0.2, silent_after=2) as (opened, _):
            answers = opened.race("race", posts(url)).answers
            assert all((answer.failure or "").startswith("no answer within") for answer in answers)
            opened.race("race", posts(url))
            with pytest.raises(TargetSilent):
                opened.race("race", posts(url))


def test_a_race_goes_to_no_stranger() -> None:
    with serving() as (url, _), wire(url) as (opened, _told), pytest.raises(ValueError, match="neither"):
        opened.race("race", posts("http://stranger.test:1"))


@pytest.mark.parametrize("number", [0, race.MOST_RACERS + 1])
def test_races_have_a_bound(number: int) -> None:
    with serving() as (url, _), wire(url) as (opened, _told), pytest.raises(ValueError, match="racers"):
        opened.race("race", posts(url, number))


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.mark.parametrize("kept", [False, True])
def test_races_over_tls_are_raced_as_those_without(authority: Authority, kept: bool) -> None:
    everybody = threading.Barrier(RACERS, timeout=10)

    def together(*_: object) -> tuple[int, dict[str, str]]:
        everybody.wait()
        time.sleep(0.05)
        return 200, {}

    secure = authority.issue("party")
    with (
        serving(together, secure=secure) as (url, seen),
        wire(url, str(authority.ca_file)) as (opened, told),
    ):
        first = opened.race("race", posts(url), kept=kept)
        again = opened.race("race", posts(url), kept=kept)
    assert {answer.status for answer in (*first.answers, *again.answers)} == {200}
    assert (first.overlapped, again.overlapped) == (True, True)
    assert len(told) == 2 * RACERS
    assert len(set(seen.peers)) == (RACERS if kept else 2 * RACERS)


def test_a_server_that_ends_tls_without_a_word_is_heard(authority: Authority) -> None:
    """Its answers end where the connection does; Python's sockets take that for an end, too."""
    with (
        serving(protocol="HTTP/1.0", secure=authority.issue("party"), length=False) as (url, _),
        wire(url, str(authority.ca_file)) as (opened, _told),
    ):
        raced = opened.race("race", posts(url))
    assert [answer.status for answer in raced.answers] == [200] * RACERS


def test_a_server_that_lets_in_one_at_a_time_is_raced_with_one(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(race, "PATIENCE_S", 0.3)
    monkeypatch.setattr(race, "SHORT_PATIENCE_S", 0.1)

    def not_at_once(*_: object) -> tuple[int, dict[str, str]]:
        time.sleep(0.2)
        return 200, {"Connection": "close"}

    with (
        serving(not_at_once, one_by_one=True, secure=authority.issue("party")) as (url, _),
        wire(url, str(authority.ca_file)) as (opened, _told),
    ):
        for _ in range(2):
            raced = opened.race("race", posts(url))
            assert [answer.status for answer in raced.answers] == [200] * RACERS
            assert raced.overlapped


def test_racers_take_no_certificate_of_a_stranger(authority: Authority, tmp_path: Path) -> None:
    other = Authority(tmp_path)
    with (
        serving(secure=other.issue("party")) as (url, _),
        wire(url, str(authority.ca_file)) as (opened, _told),
    ):
        raced = opened.race("race", posts(url))
    assert not raced.overlapped
    assert all((answer.failure or "").startswith(DISTRUSTED) for answer in raced.answers)
