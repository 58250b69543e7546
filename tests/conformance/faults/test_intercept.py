"""The intercepting proxy does what its rules say, says what it did, and knows the known traps."""

from __future__ import annotations

import http.client
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gateproof.conformance.faults.intercept.finding import VARIABLE, mitmdump
from gateproof.conformance.faults.intercept.interceptor import (
    InterceptFailed,
    Interceptor,
    Trust,
    intercepting,
)
from gateproof.conformance.faults.intercept.rules import Act, At, Rule
from gateproof.conformance.kit.authority import Authority

needs_mitmdump = pytest.mark.needs("intercept")
SOON_S = 10.0
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nfine"
Answering = Callable[[socket.socket, bytes], None]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def trust(authority: Authority) -> Trust:
    issued = authority.issue("party")
    return Trust(certificate=issued.cert_file, key=issued.key_file, ca_file=authority.ca_file)


@pytest.fixture(scope="module")
def running(trust: Trust) -> Iterator[Interceptor]:
    with intercepting(trust) as interceptor:
        yield interceptor


@pytest.fixture
def proxy(running: Interceptor) -> Interceptor:
    running.arm()
    running.passed()
    return running


@contextmanager
def upstream(answering: Answering, secure: Trust | None = None) -> Iterator[str]:
    """A party that reads each request up to the end of its body, and answers as it is told."""
    context = None
    if secure is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(secure.certificate, secure.key)

    def serve(line: socket.socket) -> None:
        with suppress(OSError), ExitStack() as stack:
            line.settimeout(SOON_S)
            stack.enter_context(line)
            speaking = context.wrap_socket(line, server_side=True) if context is not None else line
            stack.enter_context(speaking)
            while asked := _request(speaking):
                answering(speaking, asked)

    def accept(listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=accept, args=(listening,), daemon=True).start()
        scheme = "http" if secure is None else "https"
        yield f"{scheme}://127.0.0.1:{listening.getsockname()[1]}"
        # A closed socket does not wake up who waits in accept.
        listening.shutdown(socket.SHUT_RDWR)


def _request(line: socket.socket) -> bytes:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        octet = line.recv(1)
        if not octet:
            return b""
        head += octet
    lengths = [part for part in head.lower().split(b"\r\n") if part.startswith(b"content-length:")]
    rest, body = int(lengths[0].partition(b":")[2]) if lengths else 0, b""
    while len(body) < rest:
        body += line.recv(rest - len(body))
    return head + body


def fine(line: socket.socket, _: bytes) -> None:
    line.sendall(OK)


def asked(
    url: str, *, body: bytes = b"a=1", host: str = "", trusting: ssl.SSLContext | None = None
) -> tuple[int, dict[str, str], bytes]:
    parts = urlsplit(url)
    line: http.client.HTTPConnection
    if parts.scheme == "https":
        line = http.client.HTTPSConnection(parts.netloc, timeout=SOON_S, context=trusting)
    else:
        line = http.client.HTTPConnection(parts.netloc, timeout=SOON_S)
    try:
        line.request("POST", parts.path or "/", body, {"Host": host} if host else {})
        answer = line.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        line.close()


@needs_mitmdump
def test_several_hops_of_one_process_have_tls_on_both_sides(
    proxy: Interceptor, trust: Trust, authority: Authority
) -> None:
    trusting = ssl.create_default_context(cafile=str(authority.ca_file))
    with upstream(fine, trust) as one, upstream(fine, trust) as two:
        ways = [proxy.open("one", f"{one}/token"), proxy.open("two", f"{two}/token")]
        assert len({urlsplit(way).port for way in ways}) == 2
        assert [asked(way, trusting=trusting)[0] for way in ways] == [200, 200]

        passed = proxy.passed()

    assert [(each.hop, each.method, each.path, each.status) for each in passed] == [
        ("one", "POST", "/token", 200),
        ("two", "POST", "/token", 200),
    ]
    assert (passed[0].request_body, passed[0].answer_body) == (b"a=1", b"fine")


@needs_mitmdump
def test_a_party_that_nobody_vouches_for_gets_nothing(proxy: Interceptor, tmp_path: Path) -> None:
    stranger = Authority(tmp_path).issue("stranger")
    heard: list[bytes] = []
    shown = Trust(certificate=stranger.cert_file, key=stranger.key_file, ca_file=stranger.cert_file)
    with upstream(lambda _, octets: heard.append(octets), shown) as party:
        way = proxy.open("one", party).replace("https:", "http:")
        with suppress(OSError, http.client.HTTPException):
            assert asked(way)[0] == 502

    assert heard == []


@needs_mitmdump
@pytest.mark.parametrize(
    ("rule", "status", "body"),
    [
        (Rule(name="r", act=Act.ANSWER, status=503, content=b"later"), 503, b"later"),
        (Rule(name="r", act=Act.ANSWER, at=At.REQUEST, status=401, content=b""), 401, b""),
        (Rule(name="r", act=Act.SET_BODY, content=b"something longer"), 200, b"something longer"),
        (Rule(name="r", act=Act.DELAY, seconds=0.05), 200, b"fine"),
    ],
    ids=lambda given: given.act.value if isinstance(given, Rule) else None,
)
def test_a_rule_is_applied_and_counted(proxy: Interceptor, rule: Rule, status: int, body: bytes) -> None:
    with upstream(fine) as party:
        way = proxy.open("one", party)
        proxy.arm(rule)

        answer = asked(way)

    assert (answer[0], answer[2]) == (status, body)
    assert answer[1].get("content-length") == str(len(body))
    assert ("content-type" in answer[1]) == (rule.act is not Act.ANSWER)
    assert proxy.fired(rule) == 1


@needs_mitmdump
@pytest.mark.parametrize("at", list(At))
def test_a_killed_exchange_gets_no_answer(proxy: Interceptor, at: At) -> None:
    heard: list[bytes] = []

    def noting(line: socket.socket, octets: bytes) -> None:
        heard.append(octets)
        fine(line, octets)

    rule = Rule(name="kill", act=Act.KILL, at=at)
    with upstream(noting) as party:
        way = proxy.open("one", party)
        proxy.arm(rule)
        with pytest.raises((OSError, http.client.HTTPException)):
            asked(way)

    assert len(heard) == (at is At.RESPONSE)
    assert proxy.fired(rule) == 1


@needs_mitmdump
def test_a_rule_that_is_not_meant_never_fires(proxy: Interceptor) -> None:
    elsewhere = [
        Rule(name="hop", act=Act.KILL, hop="two"),
        Rule(name="method", act=Act.KILL, method="GET"),
        Rule(name="path", act=Act.KILL, path="/other"),
        Rule(name="body", act=Act.KILL, body="b=1"),
        Rule(name="times", act=Act.KILL, times=0),
    ]
    with upstream(fine) as party:
        way = proxy.open("one", party)
        proxy.arm(*elsewhere)
        assert asked(way)[0] == 200

    assert [proxy.fired(rule) for rule in elsewhere] == [0] * len(elsewhere)


@needs_mitmdump
def test_a_rule_fires_as_often_as_it_may(proxy: Interceptor) -> None:
    once = Rule(name="once", act=Act.ANSWER, status=500, times=1)
    with upstream(fine) as party:
        way = proxy.open("one", party)
        proxy.arm(once)
        assert [asked(way)[0] for _ in range(3)] == [500, 200, 200]

    assert proxy.fired(once) == 1


@needs_mitmdump
def test_what_breaks_inside_the_proxy_is_told_and_its_exchange_does_not_pass(trust: Trust) -> None:
    broken = {**Rule(name="broken", act=Act.ANSWER).to_json(), "content": "no base64!"}
    with upstream(fine) as party, intercepting(trust) as proxy:
        way = proxy.open("one", party)
        proxy._command("rules", rules=[broken])
        with pytest.raises((OSError, http.client.HTTPException)):
            asked(way)
        with pytest.raises(InterceptFailed, match="broke"):
            proxy.fired(Rule(name="broken", act=Act.ANSWER))


@needs_mitmdump
def test_the_host_that_was_asked_for_is_the_host_that_is_told(proxy: Interceptor) -> None:
    heard: list[bytes] = []

    def noting(line: socket.socket, octets: bytes) -> None:
        heard.append(octets)
        fine(line, octets)

    with upstream(noting) as party:
        asked(proxy.open("one", party), host="merchant.test:9443")

    assert b"host: merchant.test:9443\r\n" in heard[0].lower()


@needs_mitmdump
def test_octets_that_are_no_http_pass_where_octets_are_asked_for(proxy: Interceptor) -> None:
    """An HTTP proxy makes a 502 of them, which is another fault than the one that was meant."""
    nonsense = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 9\r\n\r\nnonsense"
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + OK

    def raw(line: socket.socket, octets: bytes) -> None:
        line.sendall(early if b"hints" in octets else nonsense)
        line.shutdown(socket.SHUT_WR)

    with upstream(raw) as party:
        assert asked(proxy.open("one", party))[0] == 502
        way = urlsplit(proxy.open("one", party.replace("http:", "tcp:")))
        for body, meant in ((b"none", nonsense), (b"hints", early)):
            with socket.create_connection((way.hostname, way.port), timeout=SOON_S) as line:
                line.sendall(
                    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
                )
                received = b""
                while octets := line.recv(4096):
                    received += octets
            assert received == meant


@needs_mitmdump
def test_events_pass_one_by_one(proxy: Interceptor) -> None:
    first_came = threading.Event()

    def events(line: socket.socket, _: bytes) -> None:
        line.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
        if first_came.wait(SOON_S):
            line.sendall(b"data: 2\n\n")
        line.shutdown(socket.SHUT_WR)

    with upstream(events) as party:
        way = urlsplit(proxy.open("one", party))
        with socket.create_connection((way.hostname, way.port), timeout=SOON_S) as line:
            line.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            received = b""
            while octets := line.recv(4096):
                received += octets
                if b"data: 1" in received:
                    first_came.set()

    assert b"data: 2" in received


@needs_mitmdump
def test_two_hops_to_one_place_are_refused(proxy: Interceptor) -> None:
    with upstream(fine) as party:
        proxy.open("one", party)
        with pytest.raises(InterceptFailed, match="same upstream"):
            proxy.open("again", party)
        proxy.close_hop("one")
        proxy.open("again", party)
        proxy.close_hop("again")


def children() -> dict[int, bytes]:
    """The commands of this process's children that run; threads and other tests' programs end meanwhile."""
    found = {}
    for task in Path("/proc/self/task").glob("*"):
        with suppress(OSError):
            for child in (task / "children").read_text(encoding="ascii").split():
                with suppress(OSError):
                    if command := Path(f"/proc/{child}/cmdline").read_bytes():
                        found[int(child)] = command
    return found


@needs_mitmdump
def test_nothing_is_left_of_it(trust: Trust) -> None:
    before = children()
    with intercepting(trust):
        started = {child: command for child, command in children().items() if child not in before}
        assert any(b"mitmdump" in command for command in started.values()) or not Path("/proc/self").exists()
        assert not any(b"TOKEN" in command for command in started.values())

    deadline = time.monotonic() + SOON_S
    while children().keys() & started.keys() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not children().keys() & started.keys()


@needs_mitmdump
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see who runs")
def test_it_ends_when_nobody_gives_orders_any_more(trust: Trust) -> None:
    """It does so by itself, well before anybody would kill it."""
    before = children().keys()
    with intercepting(trust) as proxy:
        (process,) = children().keys() - before
        proxy._line.shutdown(socket.SHUT_RDWR)
        deadline = time.monotonic() + 4.0
        while (still_there := process in children()) and time.monotonic() < deadline:
            time.sleep(0.02)

        assert not still_there
        with pytest.raises(InterceptFailed, match="gone"):
            proxy.arm()


def test_a_program_that_is_not_mitmdump_is_told_from_it(trust: Trust, tmp_path: Path) -> None:
    impostor = tmp_path / "mitmdump"
    impostor.write_text("#!/bin/sh\nexit 3\n", encoding="ascii")
    impostor.chmod(0o755)

    with pytest.raises(InterceptFailed, match="exit code 3"), intercepting(trust, impostor):
        pass


def test_it_is_looked_for_in_order(tmp_path: Path) -> None:
    def program(folder: Path) -> Path:
        folder.mkdir(parents=True)
        path = folder / "mitmdump"
        path.write_text("#!/bin/sh\n", encoding="ascii")
        path.chmod(0o755)
        return path

    named, beside = program(tmp_path / "named"), program(tmp_path / "checkout" / ".venv-intercept" / "bin")
    on_the_path = program(tmp_path / "path")
    variables = {"PATH": str(on_the_path.parent)}
    checkout = tmp_path / "checkout"

    assert mitmdump({**variables, VARIABLE: str(named)}, checkout=checkout) == named
    assert mitmdump({**variables, VARIABLE: str(tmp_path / "nowhere")}, checkout=checkout) is None
    assert mitmdump(variables, checkout=checkout) == beside
    assert mitmdump(variables, checkout=tmp_path) == on_the_path
    assert mitmdump({"PATH": os.devnull}, checkout=tmp_path) is None
