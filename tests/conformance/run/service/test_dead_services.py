"""A service that says the same to everything passes no check, and gets a report all the same.

`make odd-targets` tries every answer over HTTP and over MCP.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from gateproof.conformance.wire.ports import free_ports

sys.path.insert(0, str(Path(__file__).parents[1]))
from dead_answers import DEAD, Say, after_first_contact, always, checks, close, reset, serving

TARGET = """
[target]
role = "service"
name = "dead"
service_url = "{url}"
[operation]
{operation}
[world]
listen = "127.0.0.1:{port}"
proxy_client_id = "proxy-client-1"
proxy_client_secret_env = "PROXY_SECRET"
[limits]
request_timeout_s = 1
"""
HTTP = 'kind = "http"\npath = "/orders"\njson = {}'
MCP = 'kind = "mcp"\npath = "/mcp"\ntool = "list_orders"'
# These ask for no more than what the service happens to say.
AN_OBJECT, LABELLED = "META-01/metadata_is_a_json_object", "META-05/metadata_are_json_by_their_label"
TO_ALL = "META-01/metadata_come_to_whoever_takes_anything"
SAID = {name: {AN_OBJECT, LABELLED, TO_ALL} for name in ("empty JSON", "echo", "MCP result")}
WHOLE = "GATEPROOF_WHOLE" in os.environ


def challenge(to: BaseHTTPRequestHandler, _: bytes) -> None:
    """The challenge that an agent without a token gets, for everybody and everything."""
    pointer = f"http://{to.headers['Host']}/.well-known/oauth-protected-resource"
    always(401, b"{}", **{"WWW-Authenticate": f'Bearer resource_metadata="{pointer}"'})(to, b"")


def result(to: BaseHTTPRequestHandler, sent: bytes) -> None:
    """To whatever is asked over MCP, a result with nothing in it."""
    try:
        asked = json.loads(sent)
        number = asked.get("id")
    except (ValueError, AttributeError):
        number = None
    said = {"jsonrpc": "2.0", "id": number, "result": {"content": []}}
    always(200, json.dumps(said).encode())(to, sent)


ANSWERS = {**DEAD, "challenge": challenge, "MCP result": result}
OPERATIONS = {"http": HTTP, "mcp": MCP}
CASES = (
    [(case, operation) for case in ANSWERS for operation in OPERATIONS]
    if WHOLE
    else [
        *((case, "http") for case in ("302", "403 access_denied", "echo", "challenge")),
        *((case, "mcp") for case in ("500 server_error", "challenge", "MCP result")),
    ]
)


@pytest.fixture
def dead(judged: Callable[[Path], dict[str, Any]], tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """What the suite says of a service that answers like this."""

    def report(say: Say, operation: str = HTTP) -> dict[str, Any]:
        file = tmp_path / "dead.toml"
        with serving(say) as url:
            file.write_text(TARGET.format(url=url, port=free_ports(1)[0], operation=operation))
            return judged(file)

    return report


@pytest.mark.parametrize(("case", "operation"), CASES)
def test_no_check_passes_on_a_service_that_always_says_the_same(
    dead: Callable[..., dict[str, Any]], case: str, operation: str
) -> None:
    report = dead(ANSWERS[case], OPERATIONS[operation])
    assert checks(report, "passed") == SAID.get(case, set())
    assert checks(report, "error") == set()
    assert (report["exit_code"], report["verdict"]) == (1, "not-conformant")
    # Every check was carried out: what is left out for good is what a service has no part in.
    lacking = {
        rule["id"] for rule in report["rules"] for check in rule["checks"] if "needs " in check["message"]
    }
    assert lacking == {"TLS-01", "SECRET-05", "SECRET-08", "BACK-12"}


@pytest.mark.parametrize("say", [close, reset])
def test_no_check_passes_on_a_service_that_ends_every_connection(
    dead: Callable[..., dict[str, Any]], say: Say
) -> None:
    report = dead(after_first_contact(say))
    assert checks(report, "passed", "error") == set()
    assert report["verdict"] in {"not-conformant", "no-verdict"}


def test_no_check_passes_on_a_service_that_hangs_and_the_run_loses_patience(
    dead: Callable[..., dict[str, Any]],
) -> None:
    release = threading.Event()
    report = dead(after_first_contact(lambda *_: release.wait(60) and None))
    release.set()
    assert checks(report, "passed", "error") == set()
    assert report["verdict"] in {"not-conformant", "no-verdict"}
