"""Servers that say the same to everything, and what passed in a report all the same."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

# What the harness asks before the first check, to see whether there is a target at all.
FIRST_CONTACT = 2
Say = Callable[[BaseHTTPRequestHandler, bytes], None]


def always(status: int, body: bytes = b"", kind: str = "application/json", **headers: str) -> Say:
    def say(to: BaseHTTPRequestHandler, _: bytes) -> None:
        to.send_response(status)
        for name, value in ({"Content-Type": kind, "Content-Length": str(len(body))} | headers).items():
            to.send_header(name, value)
        to.end_headers()
        to.wfile.write(body)

    return say


def error(status: int, code: str, **headers: str) -> Say:
    return always(status, json.dumps({"error": code}).encode(), **{"Cache-Control": "no-store"}, **headers)


def echo(to: BaseHTTPRequestHandler, sent: bytes) -> None:
    always(200, sent or b"{}")(to, sent)


def close(to: BaseHTTPRequestHandler, _: bytes) -> None:
    to.close_connection = True


def reset(to: BaseHTTPRequestHandler, _: bytes) -> None:
    # Closing a socket that lingers for no time at all sends RST; it closes with the last of its files.
    to.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    to.close_connection = True
    to.rfile.close()
    to.connection.close()


# A refusal says what would be right for one of the checks: it is no proof all the same.
DEAD: dict[str, Say] = {
    **{str(status): always(status) for status in (200, 204, 404, 500)},
    "302": always(302, Location="/elsewhere"),
    "302 to the agent": always(302, Location="https://agent.example/callback?code=x&state=y"),
    "302 with an error": always(302, Location="https://agent.example/callback?error=access_denied"),
    "400 invalid_grant": error(400, "invalid_grant"),
    "401 invalid_client": error(401, "invalid_client", **{"WWW-Authenticate": "Basic, Bearer"}),
    "403 access_denied": error(403, "access_denied"),
    "404 not_found": error(404, "not_found"),
    "410 reauthentication_required": error(410, "reauthentication_required"),
    "500 server_error": error(500, "server_error"),
    "empty JSON": always(200, b"{}"),
    "JSON list": always(201, b"[]"),
    "HTML": always(200, b"<html><body><form><button>Approve</button></form></body></html>", "text/html"),
    "echo": echo,
}


def after_first_contact(say: Say) -> Say:
    """A target that is there when the run begins."""
    asked = count()

    def later(to: BaseHTTPRequestHandler, sent: bytes) -> None:
        (always(404) if next(asked) < FIRST_CONTACT else say)(to, sent)

    return later


class Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that resets its connection is nobody's fault."""


@contextmanager
def serving(say: Say) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            say(self, self.rfile.read(int(self.headers.get("Content-Length") or 0)))

        do_POST = do_GET  # noqa: N815 - the library's name

        def log_message(self, *_: object) -> None:
            pass

    with Quiet(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def checks(report: dict[str, Any], *verdicts: str) -> set[str]:
    return {
        check["id"] for rule in report["rules"] for check in rule["checks"] if check["verdict"] in verdicts
    }
