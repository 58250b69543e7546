"""What `gateproof doctor` says: what is tested, what would add which rules, and which key looks wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from conformance.cli import main

STATIC = """
[target]
role = "gateway"
name = "acme-gateway"
base_url = "{url}"
core_url = "{url}"
[[projects]]
id = "prj_1"
agent_policy = "approve"
[[projects.resources]]
id = "res_1"
indicator = "https://api.merchant.example/v1"
scopes = ["orders:read"]
jwks_uri = "{url}/res_1/jwks"
[[projects.proxy_clients]]
id = "proxy_1"
secret_env = "PROXY_1_SECRET"
"""
SERVICE = """
[target]
role = "service"
name = "acme-orders"
service_url = "https://127.0.0.1:9"
[operation]
kind = "http"
path = "/orders"
"""


class Refusing(BaseHTTPRequestHandler):
    """Knows no path, and no Proxy client."""

    def do_GET(self) -> None:
        self._answer(404)

    def do_POST(self) -> None:
        self._answer(401)

    def _answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("PROXY_1_SECRET", "hunter-s3cret")
    server = HTTPServer(("127.0.0.1", 0), Refusing)
    Thread(target=server.serve_forever, daemon=True).start()
    file = tmp_path / "acme.toml"
    file.write_text(STATIC.format(url=f"http://127.0.0.1:{server.server_port}"))
    yield file
    server.shutdown()
    server.server_close()


@pytest.fixture
def said(target: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["doctor", "--target", str(target)]) == 0
    return capsys.readouterr().out


def test_keys_that_look_wrong_come_first(said: str) -> None:
    text = " ".join(said.split())
    assert text.startswith("acme-gateway answers, but not as its target file says:")
    assert "status 404; or is base_url, or id of [[projects.resources]] res_1, wrong in acme.toml?" in text
    assert "proxy_1, or its secret in $PROXY_1_SECRET, wrong in acme.toml?" in text
    assert "s3cret" not in said


def test_missing_control_actions_are_one_piece_of_advice(said: str) -> None:
    assert said.count("offer these control actions") == 1
    assert "offer the control action" not in said
    advice = next(part for part in said.split("\n\n") if part.startswith("offer these control actions"))
    assert "rotate_keys" in advice
    assert "VAULT-01…11" in advice


def test_rules_stand_in_ranges_and_needs_in_words(said: str) -> None:
    assert "REG-01…13" in said
    assert "REG-02" not in said
    assert "logs:output" not in said
    assert len(said.splitlines()) < 60


def test_programs_get_every_rule_with_its_reason(target: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--target", str(target), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["doubts"]) == 3
    reasons = {rule["id"]: rule["reason"] for rule in found["rules"]}
    assert reasons["DISC-01"] == ""
    assert "logs:output" not in reasons["SECRET-05"]
    assert "control action logs" in reasons["SECRET-05"]


def test_nobody_answers_gets_a_next_step(target: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target.write_text(target.read_text().replace("http://127.0.0.1:", "http://127.0.0.9:"))
    assert main(["doctor", "--target", str(target)]) == 3
    assert "is it running, and is base_url right in acme.toml?" in capsys.readouterr().err


def test_a_target_that_nothing_is_asked_of_is_not_said_to_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "acme.toml").write_text(SERVICE)
    assert main(["doctor", "--target", str(tmp_path / "acme.toml")]) == 0
    assert capsys.readouterr().out.startswith("acme-orders was not asked")
