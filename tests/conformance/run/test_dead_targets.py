"""A target that says the same to everything passes no rule, gets a report all the same, and ends in time."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

TARGET = """
[target]
role = "gateway"
name = "dead"
version = "0"
base_url = "{url}"
core_url = "{url}"
[limits]
request_timeout_s = 1
"""
PROJECT = """
[[projects]]
id = "prj_{n}"
agent_policy = "approve"
[[projects.resources]]
id = "res_{n}"
indicator = "https://api.merchant.example/v{n}"
scopes = ["orders:read"]
jwks_uri = "{url}/res_{n}/jwks"
[[projects.proxy_clients]]
id = "proxy_{n}"
secret_env = "PROXY_SECRET"
"""
Say = Callable[[BaseHTTPRequestHandler, bytes], None]


def always(status: int, body: bytes = b"", kind: str = "application/json", **headers: str) -> Say:
    def say(to: BaseHTTPRequestHandler, _: bytes) -> None:
        to.send_response(status)
        for name, value in ({"Content-Type": kind, "Content-Length": str(len(body))} | headers).items():
            to.send_header(name, value)
        to.end_headers()
        to.wfile.write(body)

    return say


def echo(to: BaseHTTPRequestHandler, sent: bytes) -> None:
    always(200, sent or b"{}")(to, sent)


def close(to: BaseHTTPRequestHandler, _: bytes) -> None:
    to.close_connection = True


DEAD: dict[str, Say] = {
    **{str(status): always(status) for status in (200, 204, 400, 401, 403, 404, 410, 500)},
    **{f"{status} with JSON": always(status, b'{"error": "x"}') for status in (400, 401, 404, 410)},
    "302": always(302, Location="/elsewhere"),
    "302 to the agent": always(302, Location="https://agent.example/callback?code=x&state=y"),
    "empty JSON": always(200, b"{}"),
    "JSON list": always(201, b"[]"),
    "HTML": always(200, b"<html><body><form><button>Approve</button></form></body></html>", "text/html"),
    "echo": echo,
    "close": close,
}


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

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def run(folder: Path, url: str, *options: str) -> tuple[int, dict[str, Any]]:
    target = folder / "dead.toml"
    projects = "".join(PROJECT.format(url=url, n=number) for number in (1, 2))
    target.write_text(TARGET.format(url=url) + projects)
    done = subprocess.run(
        [sys.executable, "-m", "conformance", "run", "--target", str(target), "--quiet", *options],
        cwd=folder,
        env={"PATH": "", "PROXY_SECRET": "a-secret-of-a-dead-target"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, json.loads((folder / "gateproof-report" / "report.json").read_text())


@pytest.mark.parametrize("say", DEAD.values(), ids=DEAD)
def test_nothing_passes_on_a_target_that_always_says_the_same(say: Say, tmp_path: Path) -> None:
    with serving(say) as url:
        code, report = run(tmp_path, url)
    passed = [rule["id"] for rule in report["rules"] if rule["verdict"] == "passed"]
    # An empty JSON object is all that DISC-01 asks for.
    assert set(passed) <= {"DISC-01"}
    assert report["counts"]["error"] == 0, [rule for rule in report["rules"] if rule["verdict"] == "error"]
    assert code == {"not-conformant": 1, "no-verdict": 3}[report["verdict"]]


def test_target_that_is_down_has_no_verdict(tmp_path: Path) -> None:
    code, report = run(tmp_path, "http://127.0.0.1:1")
    assert (code, report["verdict"]) == (3, "no-verdict")
    assert "the connection was refused" in report["reason"]


def test_target_that_hangs_is_given_up(tmp_path: Path) -> None:
    release = threading.Event()
    with serving(lambda *_: release.wait(60) and None) as url:
        code, report = run(tmp_path, url)
        release.set()
    assert (code, report["verdict"]) == (3, "no-verdict")
    assert "no answer within" in report["reason"]


def test_target_that_stops_answering_in_the_middle_is_given_up(tmp_path: Path) -> None:
    release, left = threading.Event(), [8]

    def say(to: BaseHTTPRequestHandler, sent: bytes) -> None:
        left[0] -= 1
        if left[0] < 0:
            release.wait(60)
        else:
            always(404)(to, sent)

    with serving(say) as url:
        code, report = run(tmp_path, url)
        release.set()
    assert code in {1, 3}
    assert any("did not keep up" in rule["reason"] for rule in report["rules"])
