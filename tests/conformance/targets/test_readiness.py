"""When a launched target is ready: a proxy in front of it may answer first."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from gateproof.conformance.targets.readiness import answers, is_behind_a_proxy_that_waits


@pytest.fixture
def answering() -> Iterator[Callable[[int], str]]:
    """A server that answers everything with this status; its URL."""
    opened = list[HTTPServer]()

    def serve(status: int) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        server = HTTPServer(("127.0.0.1", 0), Handler)
        opened.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}/x?y=1"

    yield serve
    for server in opened:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("status", "waits"), [(502, True), (503, True), (504, True), (200, False), (404, False), (500, False)]
)
def test_proxy_without_its_server_is_told_from_a_target(
    answering: Callable[[int], str], status: int, waits: bool
) -> None:
    url = answering(status)

    assert answers(url)
    assert is_behind_a_proxy_that_waits(url) is waits


def test_closed_port_is_neither() -> None:
    assert not answers("http://127.0.0.1:1/")
    assert not is_behind_a_proxy_that_waits("http://127.0.0.1:1/")
