"""Services of all kinds are put to the test: over HTTP and MCP, in another language, configured by hand."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from conformance import rules
from conformance.run.authority import Authority
from conformance.run.embedded import Embedded, embedded_reference
from conformance.run.options import RunOptions
from conformance.run.ports import free_ports
from conformance.run.session import carry_out
from conformance.target.file import load
from conformance.target.launch import launch
from conformance.target.model import Launch, Target
from conformance.target.readiness import any_answers
from reports.verdicts import RunResult

HERE = Path(__file__).parent
# A walk through an operation, and what takes no time-outs to find out.
WALK = ("META-0*", "CHAL-0[1235689]", "SERVE-01", "BACK-0[1245]", "SECRET-0[234]")


def judged(target: Target | Embedded, folder: Path, *only: str) -> RunResult:
    selected = rules.select(rules.load().for_role("service"), only or WALK)
    options = RunOptions(role="service", seed=5, only=only or WALK)
    return carry_out(target, selected, options, lambda _: None, folder / "report")


def written(folder: Path, *lines: str) -> Path:
    file = folder / "orders.toml"
    file.write_text("\n".join(lines))
    return file


def heading(url: str) -> str:
    return f'[target]\nrole = "service"\nname = "orders"\nservice_url = "{url}"'


def verdicts(result: RunResult) -> dict[str, Any]:
    return {rule.id: (rule.verdict.value, rule.reason) for rule in result.rules}


@pytest.mark.parametrize("operation", ["http", "mcp"])
def test_reference_is_conformant(operation: Any, tmp_path: Path) -> None:
    result = judged(embedded_reference("service", operation), tmp_path)

    assert result.verdict.value == "conformant", verdicts(result)
    assert {rule.verdict.value for rule in result.rules} == {"passed", "observed"}, verdicts(result)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_service_in_another_language_is_conformant(tmp_path: Path) -> None:
    url = f"https://127.0.0.1:{free_ports(1)[0]}"
    command = json.dumps(["node", str(HERE / "orders_service.mjs")])
    file = written(
        tmp_path,
        heading(url),
        f"[launch]\ncommand = {command}",
        '[operation]\nkind = "http"\nmethod = "GET"\npath = "/api/my-orders"',
    )

    result = judged(load(file), tmp_path)

    assert result.verdict.value == "conformant", verdicts(result)


def test_service_that_is_configured_by_hand_keeps_its_world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports = free_ports(2)
    url, world = (f"https://127.0.0.1:{port}" for port in ports)
    secret = secrets.token_urlsafe(24)
    monkeypatch.setenv("PROXY_1_SECRET", secret)
    own, kept = Authority(tmp_path), Authority(tmp_path, kept=tmp_path / "orders-world")
    (tmp_path / "own.pem").write_bytes(own.ca_file.read_bytes())
    certificate = Authority(tmp_path, kept=tmp_path / "orders-world").issue("orders")
    file = written(
        tmp_path,
        heading(url),
        'ca_file = "orders-world/ca.pem"\n[operation]\nkind = "mcp"\npath = "/mcp"\ntool = "list_orders"',
        f'[world]\nlisten = "127.0.0.1:{ports[1]}"\nproxy_client_id = "proxy_1"',
        'proxy_client_secret_env = "PROXY_1_SECRET"\nresource_id = "res_7"',
    )
    told = {
        "GATEPROOF_BASE_URL": world,
        "GATEPROOF_AUTHORIZATION_SERVER": f"{world}/res_7",
        "GATEPROOF_RESOURCE_INDICATOR": "https://api.merchant.example/v1",
        "GATEPROOF_PROXY_CLIENT_ID": "proxy_1",
        "GATEPROOF_PROXY_CLIENT_SECRET": secret,
        "GATEPROOF_MERCHANT_API_URL": f"{world}/merchant",
        "GATEPROOF_SERVICE_URL": url,
        "GATEPROOF_CA_FILE": str(kept.ca_file),
        "GATEPROOF_TLS_CERT_FILE": str(certificate.cert_file),
        "GATEPROOF_TLS_KEY_FILE": str(certificate.key_file),
    }
    command = (sys.executable, "-m", "reference.service", "--exit-with-stdin")
    spec = Launch(command=command, cwd=Path.cwd(), env=told)
    with launch(spec, output_file=tmp_path / "log", ready=any_answers([url]), environ=os.environ):
        first = judged(load(file), tmp_path / "first", "SERVE-01", "CHAL-0[16]", "SECRET-05")
        second = judged(load(file), tmp_path / "second", "SERVE-01")

    assert first.verdict.value == "conformant", verdicts(first)
    assert second.verdict.value == "conformant", verdicts(second)
    assert dict(verdicts(first))["SECRET-05"][0] == "not-testable"
    assert "[logs]" in dict(verdicts(first))["SECRET-05"][1]


def test_service_that_is_not_there_has_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROXY_1_SECRET", "something-of-some-length")
    ports = free_ports(2)
    file = written(
        tmp_path,
        heading(f"https://127.0.0.1:{ports[0]}"),
        '[operation]\nkind = "http"\npath = "/orders"',
        f'[world]\nlisten = "127.0.0.1:{ports[1]}"\nproxy_client_id = "proxy_1"',
        'proxy_client_secret_env = "PROXY_1_SECRET"',
    )

    result = judged(load(file), tmp_path, "SERVE-01")

    assert result.verdict.value == "no-verdict"
    assert "is service_url right in orders.toml?" in result.reason
