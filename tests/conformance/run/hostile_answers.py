"""Answers of a server that attacks whoever reads them."""

from __future__ import annotations

import base64
import gzip
import json
import time
from contextlib import suppress
from functools import cache
from http.server import BaseHTTPRequestHandler

from dead_answers import Say, always

# What a terminal, GitHub, GitLab, Azure and Jenkins would act on, and a browser.
COMMANDS = (
    "\x1b[2J\x1b]0;owned\x07\r\n##vso[task.setvariable variable=owned]yes\n::set-output name=owned::yes\n"
    "\x1b[0Ksection_start:0:owned\r\x1b[0K\x9b31m\u202eowned <script>owned()</script>"
)
_LONGER_THAN_PATIENCE_S = 5.0


def reflecting(to: BaseHTTPRequestHandler, sent: bytes) -> None:
    """All that was sent, as it is and in other forms, with every secret that was in it."""
    heard = f"{to.path}\n{to.headers}\n".encode() + sent
    said = {
        "error": "invalid_request",
        "error_description": heard.decode("utf-8", "replace"),
        "base64": base64.b64encode(heard).decode(),
        "hex": heard.hex(),
        "reversed": heard.decode("utf-8", "replace")[::-1],
    }
    always(400, json.dumps(said).encode())(to, sent)


def endless(to: BaseHTTPRequestHandler, _: bytes) -> None:
    """A body that goes on for longer than anybody waits."""
    to.send_response(200)
    to.send_header("Content-Type", "application/json")
    to.send_header("Transfer-Encoding", "chunked")
    to.end_headers()
    until = time.monotonic() + _LONGER_THAN_PATIENCE_S
    with suppress(OSError):
        while time.monotonic() < until:
            to.wfile.write(b"1\r\n \r\n")
            time.sleep(0.05)
    to.close_connection = True


def many_headers(to: BaseHTTPRequestHandler, sent: bytes) -> None:
    always(200, b"{}", **{f"X-Owned-{number}": "x" * 4_000 for number in range(60)})(to, sent)


def long_header(to: BaseHTTPRequestHandler, sent: bytes) -> None:
    always(200, b"{}", **{"WWW-Authenticate": "Bearer " + 'a="' * 100_000})(to, sent)


def cut_short(to: BaseHTTPRequestHandler, _: bytes) -> None:
    """Less than was announced."""
    to.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
    to.close_connection = True


def not_http(to: BaseHTTPRequestHandler, _: bytes) -> None:
    to.wfile.write(b"\x00\xff" * 10_000)
    to.close_connection = True


def bomb(size: int) -> Say:
    """A small body that becomes a large one; it is made when it is asked for."""

    def say(to: BaseHTTPRequestHandler, sent: bytes) -> None:
        always(200, _packed(size), **{"Content-Encoding": "gzip"})(to, sent)

    return say


@cache
def _packed(size: int) -> bytes:
    return gzip.compress(b"[" * size)


# None of them is a legal answer to anything.
HOSTILE: dict[str, Say] = {
    "commands": always(400, json.dumps({"error": COMMANDS, "error_description": COMMANDS}).encode()),
    "commands as they are": always(400, COMMANDS.encode("utf-8"), "text/html"),
    "reflecting": reflecting,
    "endless": endless,
    "many headers": many_headers,
    "long header": long_header,
    "cut short": cut_short,
    "not HTTP": not_http,
    "bomb": bomb(50_000_000),
    "deep JSON": always(200, b"[" * 200_000),
    "many members": always(200, json.dumps({f"m{number}": number for number in range(100_000)}).encode()),
    "large numbers": always(200, b'{"expires_in": ' + b"9" * 100_000 + b"}"),
    "nested elements": always(200, b"<div><form>" * 40_000, "text/html"),
    "angle brackets": always(400, "⟨".encode() * 200_000),
    "private keys": always(400, b"-----BEGIN PRIVATE KEY-----" * 20_000),
    "wrong characters": always(200, b'{"issuer": "\xff\xfe\xc0\x80"}', "application/json; charset=utf-16"),
    "redirects to itself": always(302, Location="/authorize"),
    "redirects elsewhere": always(302, Location="http://169.254.169.254/latest/meta-data"),
    "redirects to a file": always(302, Location="file:///etc/passwd"),
    "redirects to commands": always(302, Location="javascript:owned()"),
}
