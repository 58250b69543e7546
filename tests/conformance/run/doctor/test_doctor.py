"""What `gateproof doctor` says: what is tested, what would add which rules, and which key looks wrong."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from static_projects import static_project

from gateproof.conformance.cli import main
from gateproof.conformance.wire.ports import free_ports

STATIC = """
[target]
role = "gateway"
name = "acme-gateway"
base_url = "{url}"
core_url = "{url}"
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
WORLD = """
[world]
listen = "127.0.0.1:{port}"
proxy_client_id = "proxy_1"
proxy_client_secret_env = "PROXY_1_SECRET"
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
def refusing() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Refusing)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def target(refusing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROXY_1_SECRET", "hunter-s3cret")
    file = tmp_path / "acme.toml"
    file.write_text(STATIC.format(url=refusing) + static_project(refusing))
    return file


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


def test_gateway_that_registers_nobody_is_told_what_is_missing(
    refusing: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "acme.toml"
    file.write_text(STATIC.format(url=refusing))

    assert main(["doctor", "--target", str(file)]) == 0
    assert "no approving Project with a Resource and a Proxy client" in " ".join(
        capsys.readouterr().out.split()
    )


def test_missing_control_actions_are_one_piece_of_advice(said: str) -> None:
    assert said.count("offer these control actions") == 1
    assert "offer the control action" not in said
    advice = next(part for part in said.split("\n\n") if part.startswith("offer these control actions"))
    assert "rotate_keys" in advice
    assert "VAULT-01…" in advice


def test_rules_stand_in_ranges_and_needs_in_words(said: str) -> None:
    assert "REG-01…13" in said
    assert "REG-02" not in said
    assert "logs:output" not in said
    assert len(said.splitlines()) < 75


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


def test_operator_learns_what_to_tell_the_service_before_it_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROXY_1_SECRET", "something-of-some-length")
    port = free_ports(1)[0]
    Path("acme.toml").write_text(SERVICE + WORLD.format(port=port) + 'scopes = ["orders:read", "more"]')

    assert main(["doctor", "--target", "acme.toml"]) == 3

    told, complaint = capsys.readouterr()
    assert f"GATEPROOF_AUTHORIZATION_SERVER=https://127.0.0.1:{port}/res_1" in told
    # A shell may read it.
    assert "GATEPROOF_SCOPES='orders:read more'" in told
    # The service may run in another folder.
    assert f"GATEPROOF_CA_FILE={tmp_path / 'acme-world' / 'ca.pem'}" in told
    assert "something-of-some-length" not in told + complaint
    assert "is service_url right in acme.toml?" in complaint


@pytest.mark.parametrize("missing", ["listen", "proxy_client"])
def test_service_that_runs_already_needs_a_world_that_stays(
    missing: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROXY_1_SECRET", "something-of-some-length")
    lines = [line for line in WORLD.format(port=9).splitlines() if not line.startswith(missing)]
    (tmp_path / "acme.toml").write_text(SERVICE + "\n".join(lines))

    assert main(["doctor", "--target", str(tmp_path / "acme.toml")]) == 3
    assert "[world], and listen to the address of the world" in capsys.readouterr().err


def test_operator_learns_what_would_make_more_rules_testable(
    refusing: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROXY_1_SECRET", "something-of-some-length")
    text = SERVICE.replace("https://127.0.0.1:9", refusing) + WORLD.format(port=free_ports(1)[0])
    (tmp_path / "acme.toml").write_text(text)

    assert main(["doctor", "--target", str(tmp_path / "acme.toml")]) == 0

    advice = capsys.readouterr().out.split("\n\n")
    for text, rule in (
        ("or name its log files under [logs]", "SECRET-05"),
        ("address the service by https", "TLS-01"),
    ):
        assert any(text in part and re.search(rf"tested then \(\d\): .*{rule}", part) for part in advice), (
            advice
        )


def test_operation_that_is_not_there_is_doubted_before_a_run_fails_for_it(
    refusing: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROXY_1_SECRET", "something-of-some-length")
    text = SERVICE.replace("https://127.0.0.1:9", refusing).replace('"/orders"', '"/orders"\nmethod = "GET"')
    (tmp_path / "acme.toml").write_text(text + WORLD.format(port=free_ports(1)[0]))

    assert main(["doctor", "--target", str(tmp_path / "acme.toml")]) == 0

    said = " ".join(capsys.readouterr().out.split())
    assert "answers, but not as its target file says" in said
    assert "GET /orders without a token: status 404, expected status 401" in said
    assert "are method and path right under [operation] of acme.toml?" in said


def test_what_a_service_printed_that_ended_at_its_launch_can_be_read_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = "raise SystemExit('no such key')"
    launched = f"[launch]\ncommand = {json.dumps([sys.executable, '-c', program])}"
    service = SERVICE.replace("127.0.0.1:9", f"127.0.0.1:{free_ports(1)[0]}")
    (tmp_path / "acme.toml").write_text(service + launched)

    assert main(["doctor", "--target", str(tmp_path / "acme.toml")]) == 3

    said = capsys.readouterr().err
    assert "the target ended before it was ready: exit code 1; its output may contain credentials" in said
    assert "let its command write it to a file" in said
    assert "no such key" not in said


@pytest.mark.parametrize("ports", ["fixed", "free"])
def test_launched_target_with_fixed_ports_could_be_faster(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ports: str
) -> None:
    port = str(free_ports(1)[0]) if ports == "fixed" else "{port}"
    command = [sys.executable, "-m", "http.server", port, "--bind", "127.0.0.1"]
    url = f"http://127.0.0.1:{port}"
    launched = f"[launch]\ncommand = {json.dumps(command)}\ncwd = {json.dumps(str(tmp_path))}\n"
    (tmp_path / "acme.toml").write_text(STATIC.format(url=url) + launched)

    assert main(["doctor", "--target", str(tmp_path / "acme.toml")]) == 0

    said = " ".join(capsys.readouterr().out.split())
    assert ("a run would be faster with {port} in place of the fixed ports" in said) == (ports == "fixed")
