"""Services of all kinds are put to the test: of other makes, launched and configured by hand."""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gateproof.conformance.kit.authority import Authority
from gateproof.conformance.run.context.embedded import Embedded, embedded_reference
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.suite import rules
from gateproof.conformance.targets.file import load
from gateproof.conformance.targets.launch import launch
from gateproof.conformance.targets.model import Launch, Target
from gateproof.conformance.targets.readiness import any_answers
from gateproof.conformance.wire.ports import free_ports
from gateproof.reports.verdicts import RunResult

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[3]
# `make services` asks every rule; a test asks a walk through an operation, and what takes no time-outs.
WHOLE = "GATEPROOF_WHOLE" in os.environ
WALK = ("META-0*", "CHAL-0[1235689]", "SERVE-01", "BACK-0[1245]", "SECRET-0[234]")
OF_MCP = "CHAL-1[01]"
BY_HAND = ("META-0[123]", "CHAL-0[126]", "SERVE-01", "BACK-0[14]", "SECRET-02")
SECRET = "PROXY_1_SECRET"


@dataclass(frozen=True, kw_only=True)
class Stranger:
    """A service that does not come with gateproof: how it is started, and how it is called."""

    interpreter: str
    program: Path
    operation: str
    metadata_path: str = "/.well-known/oauth-protected-resource"

    @property
    def command(self) -> list[str]:
        return [self.interpreter, str(self.program)]


def python_of(venv: str) -> str:
    return str(ROOT / venv / "bin" / "python")


STRANGERS = {
    "node": Stranger(
        interpreter="node",
        program=HERE / "orders_service.mjs",
        operation='kind = "http"\nmethod = "GET"\npath = "/api/my-orders"',
    ),
    "fastapi": Stranger(
        interpreter=python_of(".venv-fastapi"),
        program=HERE / "orders_fastapi.py",
        operation='kind = "http"\nmethod = "POST"\npath = "/orders"',
    ),
    "mcp-sdk": Stranger(
        interpreter=python_of(".venv-mcp-sdk"),
        program=ROOT / "tests" / "interop" / "mcp_sdk" / "server.py",
        operation='kind = "mcp"\npath = "/mcp"\ntool = "list_orders"',
        metadata_path="/.well-known/oauth-protected-resource/mcp",
    ),
}
STRANGE = [
    pytest.param(stranger, id=name, marks=pytest.mark.needs(name)) for name, stranger in STRANGERS.items()
]
REFERENCE = Stranger(
    interpreter=sys.executable,
    program=Path("-m"),
    operation='kind = "mcp"\npath = "/mcp"\ntool = "list_orders"',
)
KEEPING = replace(REFERENCE, program=HERE / "keeping_service.py")


def judged(target: Target | Embedded, folder: Path, *only: str) -> RunResult:
    selected = rules.select(rules.load().for_role("service"), only)
    options = RunOptions(role="service", seed=5, only=only, certify=not only)
    return carry_out(target, selected, options, lambda _: None, folder / "report")


def written(folder: Path, *lines: str) -> Path:
    file = folder / "orders.toml"
    file.write_text("\n".join(lines))
    return file


def heading(url: str) -> str:
    return f'[target]\nrole = "service"\nname = "orders"\nservice_url = "{url}"'


def launching(stranger: Stranger, folder: Path) -> Path:
    """A target file whose service gateproof launches."""
    url = f"https://127.0.0.1:{free_ports(1)[0]}"
    return written(
        folder,
        heading(url),
        f'metadata_url = "{url}{stranger.metadata_path}"',
        f"[launch]\ncommand = {json.dumps(stranger.command)}",
        operation(stranger),
    )


def operation(stranger: Stranger) -> str:
    return f"[operation]\n{stranger.operation}"


def verdicts(result: RunResult) -> dict[str, Any]:
    return {
        rule.id: (rule.verdict.value, rule.reason) for rule in result.rules if rule.verdict.value != "passed"
    }


@dataclass(frozen=True, kw_only=True)
class ByHand:
    """A target file with a [world] of its own, and what an operator would tell the service of it."""

    file: Path
    url: str
    told: dict[str, str]


SetUp = Callable[[Stranger], ByHand]


@pytest.fixture
def set_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SetUp:
    """Chooses addresses and a secret, as somebody does who configures a service once."""

    def chosen(stranger: Stranger) -> ByHand:
        ports = free_ports(2)
        url, world = (f"https://127.0.0.1:{port}" for port in ports)
        secret = secrets.token_urlsafe(24)
        monkeypatch.setenv(SECRET, secret)
        kept = Authority(tmp_path, kept=tmp_path / "orders-world")
        own = kept.issue("orders")
        file = written(
            tmp_path,
            heading(url),
            f'metadata_url = "{url}{stranger.metadata_path}"',
            f'ca_file = "orders-world/ca.pem"\n{operation(stranger)}',
            f'[world]\nlisten = "127.0.0.1:{ports[1]}"\nproxy_client_id = "proxy_1"',
            f'proxy_client_secret_env = "{SECRET}"\nresource_id = "res_7"',
            'indicator = "https://api.merchant.example/v1"',
        )
        told = {
            "GATEPROOF_BASE_URL": world,
            "GATEPROOF_CORE_URL": world,
            "GATEPROOF_AUTHORIZATION_SERVER": f"{world}/res_7",
            "GATEPROOF_RESOURCE_INDICATOR": "https://api.merchant.example/v1",
            "GATEPROOF_PROXY_CLIENT_ID": "proxy_1",
            "GATEPROOF_PROXY_CLIENT_SECRET": secret,
            "GATEPROOF_MERCHANT_API_URL": f"{world}/merchant",
            "GATEPROOF_SERVICE_URL": url,
            "GATEPROOF_CA_FILE": str(kept.ca_file),
            "GATEPROOF_TLS_CERT_FILE": str(own.cert_file),
            "GATEPROOF_TLS_KEY_FILE": str(own.key_file),
            "NODE_EXTRA_CA_CERTS": str(kept.ca_file),
        }
        return ByHand(file=file, url=url, told=told)

    return chosen


def running(stranger: Stranger, by_hand: ByHand, *options: str) -> Any:
    spec = Launch(command=(*stranger.command, *options), cwd=ROOT, env=by_hand.told)
    log = by_hand.file.with_name("log")
    return launch(spec, output_file=log, ready=any_answers([by_hand.url]), environ=os.environ)


@pytest.mark.parametrize("operation", ["http", "mcp"])
def test_reference_is_conformant(operation: Any, tmp_path: Path) -> None:
    result = judged(embedded_reference("service", operation), tmp_path, *WALK)

    assert result.verdict.value == "conformant", verdicts(result)
    assert {rule.verdict.value for rule in result.rules} == {"passed", "observed"}, verdicts(result)


def test_operations_of_mcp_are_no_matter_of_a_service_over_http(tmp_path: Path) -> None:
    result = judged(embedded_reference("service", "http"), tmp_path, OF_MCP)

    assert {verdict for verdict, _ in verdicts(result).values()} == {"not-applicable"}
    assert len(result.rules) == 2


@pytest.mark.parametrize("stranger", STRANGE)
def test_service_that_is_launched_is_conformant(stranger: Stranger, tmp_path: Path) -> None:
    result = judged(load(launching(stranger, tmp_path)), tmp_path, *(() if WHOLE else WALK))

    assert result.verdict.value == "conformant", verdicts(result)


@pytest.mark.needs("mcp-sdk")
def test_operations_of_the_mcp_sdk_get_the_challenge(tmp_path: Path) -> None:
    result = judged(load(launching(STRANGERS["mcp-sdk"], tmp_path)), tmp_path, OF_MCP)

    assert verdicts(result) == {}
    assert len(result.rules) == 2


@pytest.mark.parametrize("stranger", STRANGE)
def test_service_that_is_configured_by_hand_is_conformant(stranger: Stranger, set_up: SetUp) -> None:
    by_hand = set_up(stranger)
    logs = f'\n[logs]\nfiles = ["{by_hand.file.with_name("log")}"]'
    by_hand.file.write_text(by_hand.file.read_text() + logs)

    with running(stranger, by_hand):
        result = judged(load(by_hand.file), by_hand.file.parent, *(() if WHOLE else BY_HAND))

    assert result.verdict.value == "conformant", verdicts(result)


def test_world_of_a_service_that_is_configured_by_hand_is_kept(set_up: SetUp) -> None:
    by_hand = set_up(REFERENCE)

    with running(REFERENCE, by_hand, "gateproof.reference.service", "--exit-with-stdin"):
        target = load(by_hand.file)
        first = judged(target, by_hand.file.parent / "first", "SERVE-01", "CHAL-0[16]", "SECRET-05")
        second = judged(target, by_hand.file.parent / "second", "SERVE-01")

    assert first.verdict.value == "conformant", verdicts(first)
    assert second.verdict.value == "conformant", verdicts(second)
    assert verdicts(first)["SECRET-05"][0] == "not-testable"
    assert "[logs]" in verdicts(first)["SECRET-05"][1]


def test_service_that_keeps_its_tokens_meets_a_second_run(set_up: SetUp) -> None:
    by_hand = set_up(KEEPING)

    with running(KEEPING, by_hand, "--exit-with-stdin"):
        for number in ("first", "second"):
            result = judged(load(by_hand.file), by_hand.file.parent / number, "SERVE-01", "BACK-0[45]")
            assert result.verdict.value == "conformant", verdicts(result)


def test_service_that_is_not_there_has_no_verdict(set_up: SetUp) -> None:
    by_hand = set_up(REFERENCE)

    result = judged(load(by_hand.file), by_hand.file.parent, "SERVE-01")

    assert result.verdict.value == "no-verdict"
    assert "is service_url right in orders.toml?" in result.reason
