"""A site on loopback, and a real Chromium behind the harness's own wire to sign users in on it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from gateproof.conformance.signin.chromium.sign_in import ChromiumSignIn
from gateproof.conformance.signin.picturing import Picturing
from gateproof.conformance.signin.sign_in_result import SignInRequest, SignInResult
from gateproof.conformance.suite.parties import User
from gateproof.conformance.targets.model import Step
from gateproof.conformance.wire.client import Wire
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.route import Place
from gateproof.conformance.wire.secret import Secret

CALLBACK = "https://agent.example/callback"
ALICE = User(name="alice", login="alice@merchant.example", password=Secret("password", "wonderland-42"))
Answer = tuple[int, dict[str, str], str]


@dataclass
class Site:
    """A server on loopback: pages by their path, and what was asked of it."""

    origin: str
    callback: str = CALLBACK
    pages: dict[str, str | Callable[[BaseHTTPRequestHandler, str], Answer]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def serve() -> Iterator[Callable[[], Site]]:
    opened: list[ThreadingHTTPServer] = []

    def begin() -> Site:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                path = self.path.partition("?")[0]
                site.asked.append(f"{self.command} {self.path}")
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                page = site.pages.get(path, "")
                status, headers, text = (200, {}, page) if isinstance(page, str) else page(self, body)
                if not status:
                    self.close_connection = True
                    return
                self.send_response(status)
                said = {"Content-Type": "text/html; charset=utf-8", **headers}
                said["Content-Length"] = str(len(text.encode()))
                for name, value in said.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())

            do_GET = do_POST = answer  # noqa: N815 - the names are the base's

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        site = Site(origin=f"http://127.0.0.1:{server.server_port}")
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        opened.append(server)
        return site

    yield begin
    for server in opened:
        server.shutdown()
        server.server_close()


@pytest.fixture
def site(serve: Callable[[], Site]) -> Site:
    return serve()


@dataclass
class Harness:
    """The way to sign in, with the wire below it, and what it kept."""

    way: ChromiumSignIn
    recorded: list[Exchange]
    pictures: list[bytes]
    user: User = ALICE

    def sign_in(self, url: str, *, approve: bool = True) -> SignInResult:
        request = SignInRequest(authorization_url=url, redirect_uri=CALLBACK, user=self.user, approve=approve)
        return self.way.sign_in(request)


@pytest.fixture(scope="module")
def reachable() -> set[str]:
    """The origins that the run at hand may talk to."""
    return set()


@pytest.fixture(scope="module")
def one_chromium(reachable: set[str]) -> Iterator[Harness]:
    """Starting Chromium takes longer than any sign-in, and tests share no more than the program."""
    recorded: list[Exchange] = []
    pictures: list[bytes] = []
    places: dict[frozenset[str], Wire] = {}

    def wire() -> Wire:
        origins = frozenset(reachable)
        if origins not in places:
            place = Place(origins=origins)
            places[origins] = Wire((place,), timeout_s=10, record=recorded.append, sleep=lambda _: None)
        return places[origins]

    def keep(drawn: bytes) -> str:
        pictures.append(drawn)
        return "pictures/x.png"

    hidden = ALICE.password.reveal()
    picturing = Picturing(
        redact=lambda text: text.replace(hidden, "(hidden)"), tells=lambda text: hidden in text, keep=keep
    )
    way = ChromiumSignIn(
        send=lambda asked: wire().send("browser", asked),
        may_visit=lambda url: wire().may_reach(url),
        steps=(Step(url_contains="/hinted", fill={"who": "{name}"}, press="Weiter"),),
        picturing=picturing,
    )
    yield Harness(way=way, recorded=recorded, pictures=pictures)
    way.close()
    for each in places.values():
        each.close()


@pytest.fixture
def harness(one_chromium: Harness, reachable: set[str], site: Site) -> Harness:
    reachable.clear()
    reachable.add(site.origin)
    one_chromium.recorded.clear()
    one_chromium.pictures.clear()
    return one_chromium
