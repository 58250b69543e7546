"""Hostile gateways, services, controls and agents: a run against them ends in time, with a report to rely on.

`make attack` tries every answer in every role.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from static_projects import static_project
from warm import WARM

from gateproof.conformance.wire.ports import free_ports

sys.path.insert(0, str(Path(__file__).parent))
from dead_answers import after_first_contact, always, serving
from hostile_answers import COMMANDS, HOSTILE

pytestmark = pytest.mark.attack

PROXY_SECRET = "a-secret-of-a-hostile-target-4cXw9Q"
# How a target may send it back.
SECRET_FORMS = (
    PROXY_SECRET.encode(),
    PROXY_SECRET.encode().hex().encode(),
    PROXY_SECRET[::-1].encode(),
    base64.b64encode(f"proxy_1:{PROXY_SECRET}".encode()),
)
GATEWAY = """
[target]
role = "gateway"
name = "hostile"
version = "0"
base_url = "{url}"
core_url = "{url}"
[limits]
request_timeout_s = 1
"""
CONTROL = """
[target]
role = "gateway"
name = "hostile"
version = "0"
base_url = "{dead}"
core_url = "{dead}"
[limits]
request_timeout_s = 1
[control]
url = "{url}/control"
token_env = "PROXY_1_SECRET"
"""
SERVICE = """
[target]
role = "service"
name = "hostile"
service_url = "{url}"
[operation]
kind = "{kind}"
path = "/orders"
{operation}
[world]
listen = "127.0.0.1:{port}"
proxy_client_id = "proxy-client-1"
proxy_client_secret_env = "PROXY_1_SECRET"
[limits]
request_timeout_s = 1
"""
AGENT = """
[target]
role = "agent"
name = "hostile"
[launch]
command = {command}
timeout_s = 5
"""
# A few rules of each kind: what a rule asks for makes no difference to who attacks.
OF_GATEWAYS = ("DISC-0*", "KEYS-01", "REG-01", "AUTHZ-01", "PROXY-03", "REDEEM-03", "ROBUST-01")
OF_SERVICES = ("META-*", "CHAL-01", "CHAL-03", "SERVE-01", "BACK-04")
WHOLE = "GATEPROOF_WHOLE" in os.environ
ASKED = list(HOSTILE) if WHOLE else ["reflecting"]
# What a hostile agent does with the address of the service, its callback and its outputs.
AGENTS = {
    "prints commands": f"print({COMMANDS!r}); raise SystemExit({COMMANDS!r})",
    "calls its browser with commands": (
        "import os, subprocess; [subprocess.run([os.environ['BROWSER'], url]) for url in "
        "('javascript:owned()', 'file:///etc/passwd', 'http://169.254.169.254/', '--help', '', 'x' * 90_000)]"
    ),
    "prints its environment": "import os; print(dict(os.environ))",
    "fills its folder": (
        "import os; d = os.environ['GATEPROOF_STATE_DIR']; "
        "[open(os.path.join(d, str(n)), 'wb').write(b'x' * 100_000) for n in range(100)]"
    ),
    "makes links": (
        "import os; d = os.environ['GATEPROOF_STATE_DIR']; os.symlink('/dev/zero', d + '/zero'); "
        "os.symlink('/', d + '/root'); os.mkfifo(d + '/fifo')"
    ),
    "closes its outputs": "import os, time; os.close(1); os.close(2); time.sleep(600)",
}
Attacked = Callable[..., str]


@pytest.fixture
def attacked(tmp_path: Path) -> Attacked:
    """Runs some rules against a target file, and looks at what comes of it; returns what was printed."""

    def run(text: str, only: tuple[str, ...]) -> str:
        (tmp_path / "target.toml").write_text(text)
        options = ["--no-faults", "--examples", "3", "--workers", "2"]
        options += [part for rule in only for part in ("--only", rule)]
        done = gateproof(tmp_path, "run", "--target", "target.toml", *options)
        said = (done.stdout + done.stderr).decode()
        assert done.returncode in {1, 3}, said
        assert "Traceback" not in said
        assert not acted_upon(said)
        folder = tmp_path / "gateproof-report"
        report = json.loads((folder / "report.json").read_text())
        assert {check["verdict"] for rule in report["rules"] for check in rule["checks"]} <= {
            *("failed", "not-testable", "not-applicable", "passed", "observed")
        }
        for file in folder.rglob("*"):
            if file.is_file():
                assert not [form for form in SECRET_FORMS if form in file.read_bytes()], file.name
        assert not acted_upon((folder / "summary.md").read_bytes().decode())
        verified = gateproof(tmp_path, "verify", "gateproof-report")
        assert verified.returncode == 0, (verified.stdout + verified.stderr).decode()
        return said

    return run


def gateproof(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*WARM, "gateproof", *arguments],
        cwd=folder,
        env={**os.environ, "PROXY_1_SECRET": PROXY_SECRET},
        capture_output=True,
        timeout=300,
        check=False,
    )


def acted_upon(text: str) -> list[str]:
    """The parts of a text that a terminal or a CI system would act on."""
    return [each for each in ("\x1b", "\x9b", "\u202e", "\r", "##vso[", "\n::") if each in text]


def test_what_would_be_acted_upon_is_seen() -> None:
    assert len(acted_upon(COMMANDS)) == 6
    assert not acted_upon("REG-01: expected status 201, got 400")


@pytest.mark.parametrize("name", ASKED)
def test_hostile_gateway(name: str, attacked: Attacked) -> None:
    with serving(after_first_contact(HOSTILE[name])) as url:
        attacked(GATEWAY.format(url=url) + static_project(url), OF_GATEWAYS)


@pytest.mark.parametrize("name", ASKED)
def test_hostile_control(name: str, attacked: Attacked) -> None:
    with serving(HOSTILE[name]) as url, serving(always(404)) as dead:
        attacked(CONTROL.format(url=url, dead=dead), OF_GATEWAYS)


@pytest.mark.parametrize("kind", ["http", "mcp"] if WHOLE else ["mcp"])
@pytest.mark.parametrize("name", ASKED)
def test_hostile_service(name: str, kind: str, attacked: Attacked) -> None:
    operation = "json = {}" if kind == "http" else 'tool = "list_orders"'
    with serving(after_first_contact(HOSTILE[name])) as url:
        attacked(SERVICE.format(url=url, kind=kind, operation=operation, port=free_ports(1)[0]), OF_SERVICES)


@pytest.mark.parametrize("name", AGENTS if WHOLE else ["prints commands"])
def test_hostile_agent(name: str, attacked: Attacked) -> None:
    command = json.dumps([sys.executable, "-c", AGENTS[name]])
    attacked(AGENT.format(command=command), ("AGENT-01", "AGENT-05", "AGENT-12"))
