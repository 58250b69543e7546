"""The comparison with the MCP conformance program: its summary, the table, and the proxy with the token."""

from __future__ import annotations

import http.client
import json
import ssl
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import asdict, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import mcp_conformance
import pytest
from mcp_conformance import Measured, Scenario
from token_proxy import token_proxy

from gateproof.conformance.kit.authority import Authority

PRINTED = """=== Running scenario: ping ===

=== SUMMARY ===
✓ ping: 1 passed, 0 failed
✗ tools-call-image: 0 passed, 2 failed

Total: 1 passed, 2 failed
"""
OLD_NODE = mcp_conformance.PACKAGE / "old_node.mjs"


def test_scenarios_are_read_from_the_summary() -> None:
    assert mcp_conformance.scenarios(PRINTED) == [
        Scenario(name="ping", passed=1, failed=0),
        Scenario(name="tools-call-image", passed=0, failed=2),
    ]


def test_table_has_the_rates_of_both() -> None:
    ours = Measured(wall_s=40.0, tester_s=20.0, checks=400, exchanges=4000, waiting_s=18.0)
    other = Measured(wall_s=2.0, tester_s=1.0, checks=30, exchanges=120)

    lines = mcp_conformance.table([ours], [other]).splitlines()

    assert "| checks per second | 10.0 | 15.0 | 0.67 |" in lines
    assert "| exchanges per second | 100.0 | 60.0 | 1.67 |" in lines
    assert "| — checks that wait by design, s | 18.0 | 0.0 |  |" in lines


def test_stored_results_list_the_scenarios_if_their_exchanges_were_counted() -> None:
    run = asdict(Measured(wall_s=2.0, tester_s=1.0, checks=30, exchanges=120))
    scenarios = [Scenario(name="ping", passed=1, failed=0), Scenario(name="logging", passed=0, failed=1)]
    results = {"rounds": 1, "ours": [run], "others": [run]}

    whole = mcp_conformance.drawn(results | {"scenarios": [asdict(each) for each in scenarios]})
    counted = [asdict(replace(each, exchanges=4)) for each in scenarios]
    each = mcp_conformance.drawn(results | {"scenarios": counted})

    assert "The service passes 1 of 2 scenarios." in whole
    assert "ping" not in whole
    assert each.splitlines()[-2:] == ["| `ping` | 4 | 1 | 0 |", "| `logging` | 4 | 0 | 1 |"]


class Echo(BaseHTTPRequestHandler):
    """Returns what came."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        said = json.dumps({"headers": dict(self.headers), "body": body.decode()}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: object) -> None:
        """Prints nothing."""


@pytest.fixture
def target(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The URL of a server that echoes requests, and the CA of its certificate."""
    authority = Authority(tmp_path)
    certificate = authority.issue("target")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate.cert_file, certificate.key_file)
    with HTTPServer(("127.0.0.1", 0), Echo) as server:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"https://127.0.0.1:{server.server_address[1]}", str(authority.ca_file)
        server.shutdown()
        thread.join()


def test_proxy_adds_a_token_only_where_there_is_none_and_counts(target: tuple[str, str]) -> None:
    netloc = urlsplit(target[0]).netloc
    with token_proxy(*target, lambda: "good") as proxy:
        came = []
        for headers in ({}, {"Authorization": "Bearer other"}, {"Host": "evil.example"}):
            connection = http.client.HTTPConnection(urlsplit(proxy.url).netloc, timeout=30)
            connection.request("POST", "/mcp", "said", headers)
            came.append(json.loads(connection.getresponse().read()))
            connection.close()
        number = proxy.requests

    assert [each["headers"]["Authorization"] for each in came] == [
        "Bearer good",
        "Bearer other",
        "Bearer good",
    ]
    assert [each["headers"]["Host"] for each in came] == [netloc, netloc, "evil.example"]
    assert {each["body"] for each in came} == {"said"}
    assert number == 3


def test_package_is_pinned_and_its_lock_names_no_address_to_download_from() -> None:
    package = json.loads((mcp_conformance.PACKAGE / "package.json").read_text())
    lock = json.loads((mcp_conformance.PACKAGE / "package-lock.json").read_text())

    [(name, version)] = package["dependencies"].items()
    assert lock["packages"][f"node_modules/{name}"]["version"] == version
    assert [each for each, entry in lock["packages"].items() if "resolved" in entry] == []


@pytest.mark.needs("node")
def test_old_node_imports_what_it_lacks_only_for_the_package(tmp_path: Path) -> None:
    folder = tmp_path / "node_modules" / "@modelcontextprotocol" / "conformance"
    folder.mkdir(parents=True)
    (folder / "index.mjs").write_text(
        'import { globSync, existsSync } from "fs"; console.log(typeof existsSync);'
    )
    command = ["node", "--import", str(OLD_NODE), str(folder / "index.mjs")]

    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert (done.returncode, done.stdout) == (0, "function\n"), done.stderr
