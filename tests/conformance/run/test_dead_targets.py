"""A target that says the same to everything passes no check, gets a report all the same, and ends in time."""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
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
CONTROL = """
[control]
url = "{url}/control"
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
# Every control action but those that a sign-in by forms has no use for.
ACTIONS = (
    *("create_project", "delete_project", "set_agent_policy", "create_resource", "create_proxy_client"),
    *("revoke_proxy_client", "approve_agent", "withhold_redemption_scope", "advance_clock", "rotate_keys"),
    "logs",
)
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
AN_OBJECT = "DISC-01/answers_200_with_a_json_object"
# These ask for no more than what the target happens to say.
SAID: dict[str, set[str]] = {
    "empty JSON": {AN_OBJECT},
    "echo": {AN_OBJECT},
    "JSON list": {"REG-01/valid_registration_answers_201"},
}


def after_first_contact(say: Say) -> Say:
    """A target that is there when the run begins."""
    asked = count()

    def later(to: BaseHTTPRequestHandler, sent: bytes) -> None:
        (always(404) if next(asked) < FIRST_CONTACT else say)(to, sent)

    return later


def obliging(gateway: str) -> Say:
    """A control that does whatever it is asked, so that no check is left out for want of a Project."""
    number = count(1)

    def say(to: BaseHTTPRequestHandler, sent: bytes) -> None:
        action, new = json.loads(sent)["action"], next(number)
        answers: dict[str, dict[str, Any]] = {
            "describe": {"actions": ACTIONS},
            "create_project": {"project_id": f"prj_{new}"},
            "create_resource": {"resource_id": f"res_{new}", "jwks_uri": f"{gateway}/res_{new}/jwks"},
            "create_proxy_client": {"client_id": f"proxy_{new}", "client_secret": f"secret-of-proxy-{new}"},
            "logs": {"text": ""},
        }
        always(200, json.dumps(answers.get(action, {})).encode())(to, sent)

    return say


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


@pytest.fixture
def dead(judged: Callable[[Path], dict[str, Any]], tmp_path: Path) -> Callable[[Say], dict[str, Any]]:
    """What the suite says of a target that answers like this, and whose control does as it is told."""

    def report(say: Say) -> dict[str, Any]:
        file = tmp_path / "dead.toml"
        with serving(say) as url, serving(obliging(url)) as control:
            file.write_text(TARGET.format(url=url) + CONTROL.format(url=control))
            return judged(file)

    return report


def run(folder: Path, url: str) -> tuple[int, dict[str, Any]]:
    target = folder / "dead.toml"
    projects = "".join(PROJECT.format(url=url, n=number) for number in (1, 2))
    target.write_text(TARGET.format(url=url) + projects)
    done = subprocess.run(
        [sys.executable, "-m", "conformance", "run", "--target", str(target), "--quiet"],
        cwd=folder,
        env={"PATH": "", "PROXY_SECRET": "a-secret-of-a-dead-target"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, json.loads((folder / "gateproof-report" / "report.json").read_text())


def checks(report: dict[str, Any], *verdicts: str) -> set[str]:
    return {
        check["id"] for rule in report["rules"] for check in rule["checks"] if check["verdict"] in verdicts
    }


@pytest.mark.parametrize("case", DEAD)
def test_no_check_passes_on_a_target_that_always_says_the_same(
    dead: Callable[[Say], dict[str, Any]], case: str
) -> None:
    report = dead(DEAD[case])
    assert checks(report, "passed") == SAID.get(case, set())
    assert checks(report, "error") == set()
    assert (report["exit_code"], report["verdict"]) == (1, "not-conformant")
    # Every check was carried out: none was left out for want of a Project, a control or a merchant.
    lacking = {
        rule["id"] for rule in report["rules"] for check in rule["checks"] if "needs " in check["message"]
    }
    assert lacking == {"TLS-01"}


@pytest.mark.parametrize("say", [close, reset])
def test_no_check_passes_on_a_target_that_ends_every_connection(
    dead: Callable[[Say], dict[str, Any]], say: Say
) -> None:
    report = dead(after_first_contact(say))
    assert checks(report, "passed", "error") == set()
    assert report["verdict"] in {"not-conformant", "no-verdict"}


def test_no_check_passes_on_a_target_that_hangs_and_the_run_loses_patience(
    dead: Callable[[Say], dict[str, Any]],
) -> None:
    release = threading.Event()
    report = dead(after_first_contact(lambda *_: release.wait(60) and None))
    release.set()
    assert checks(report, "passed", "error") == set()
    assert report["verdict"] in {"not-conformant", "no-verdict"}
    # A wait for each of the checks would take the better part of an hour.
    assert any("did not keep up" in rule["reason"] for rule in report["rules"])


@pytest.mark.parametrize("say", [close, reset])
def test_target_that_ends_the_first_connection_has_no_verdict(
    dead: Callable[[Say], dict[str, Any]], say: Say
) -> None:
    assert dead(say)["verdict"] == "no-verdict"


@pytest.mark.parametrize("case", ["401 invalid_client", "empty JSON"])
def test_no_check_passes_in_projects_that_were_made_by_hand(case: str, tmp_path: Path) -> None:
    with serving(DEAD[case]) as url:
        code, report = run(tmp_path, url)
    assert checks(report, "passed") == SAID.get(case, set())
    assert checks(report, "error") == set()
    assert (code, report["verdict"]) == (1, "not-conformant")


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
