"""The reference is conformant, embedded or served, with control or without, by one worker or two."""

from __future__ import annotations

import json
import os
import re
import signal
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from warm import WARM

from gateproof.conformance.checks import index
from gateproof.conformance.kit.authority import Authority
from gateproof.conformance.run.context.embedded import Embedded, embedded_gateway

# What every way to reach a gateway has to give the same answer to, in a fraction of a whole run's time.
SOME = tuple(
    part
    for glob in (
        "DISC-01",
        "KEYS-04",
        "REG-0[12]",
        "AUTHZ-0[29]",
        "CLAIM-0[1-4]",
        "CODE-01",
        "REDEEM-0[15]",
    )
    for part in ("--only", glob)
)
# `make run` asks every rule; `make odd-targets` does so in another order.
ASKED = () if "GATEPROOF_WHOLE" in os.environ else SOME
# The control actions that cost a gateway most. Without shared Projects, there are several times as many.
MOST_CALLS = (
    {"create_project": 420, "create_resource": 550}
    if "GATEPROOF_WHOLE" in os.environ
    else {"create_project": 40, "create_resource": 70}
)
FEW = ("--only", "DISC-0[12]", "--only", "REG-01", "--only", "REG-03", "--only", "CODE-01")
# A case that the reference's own legal choice, or this machine's TLS library, leaves out.
NOT_HERE = {"not-testable"}
OF_RESTARTS = {
    case
    for found in index("gateway").values()
    for check in found
    if "restart" in check.needs
    for case in check.ids()
}
HEAD = """
[target]
role = "gateway"
name = "served"
version = "1"
base_url = "{base_url}"
core_url = "{core_url}"
ca_file = "{ca_file}"
"""


def run(folder: Path, *options: str, **environment: str) -> tuple[int, dict[str, Any]]:
    code, report, _ = told(folder, "--quiet", *options, **environment)
    return code, report


def told(folder: Path, *options: str, **environment: str) -> tuple[int, dict[str, Any], str]:
    done = subprocess.run(
        [*WARM, "gateproof", "run", *options],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.stderr == ""
    report = json.loads((folder / "gateproof-report" / "report.json").read_text())
    return done.returncode, report, done.stdout


def control_calls(said: str) -> dict[str, int]:
    """The number of calls of each control action, as a run prints them."""
    return {action: int(number) for action, number in re.findall(r" s  (\w+)  \((\d+) calls?\)", said)}


def verdicts(report: dict[str, Any]) -> dict[str, str]:
    return {check["id"]: check["verdict"] for rule in report["rules"] for check in rule["checks"]}


@pytest.fixture
def served() -> Iterator[dict[str, Any]]:
    process = subprocess.Popen([*WARM, "gateproof", "serve", "--json"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if line == "}\n":
            break
    yield json.loads("".join(lines))
    process.send_signal(signal.SIGINT)
    code = process.wait(30)
    process.stdout.close()
    assert code == 0


def test_embedded_reference_is_conformant_and_creates_few_projects(tmp_path: Path) -> None:
    options = ("--seed", "7", "--workers", "2", "--shuffle", "--examples", "5", "--durations", "30")
    code, report, said = told(tmp_path, *options, *ASKED)
    assert (code, report["verdict"]) == (0, "conformant")
    assert set(verdicts(report).values()) <= {"passed", "observed"} | NOT_HERE
    calls = control_calls(said)
    assert {action: calls[action] for action, most in MOST_CALLS.items() if calls[action] > most} == {}


def test_one_worker_and_two_find_the_same(tmp_path: Path) -> None:
    found = [
        verdicts(run(tmp_path, "--seed", "7", *FEW, *options)[1])
        for options in (("--workers", "1"), ("--workers", "2", "--shuffle"))
    ]
    assert found[0] == found[1]
    assert len(found[0]) > 30


def test_served_world_has_its_pages_and_nothing_of_the_last_one(served: dict[str, Any]) -> None:
    trust = ssl.create_default_context(cafile=served["ca_file"])
    for name, title in (("console_url", "Sign in"), ("playground_url", "Walk through the sequence")):
        page = httpx.get(served[name], verify=trust, follow_redirects=True, trust_env=False)
        assert f"<h1>{title}</h1>" in page.text
    assert served["operator"]["name"] == "operator"
    assert len(served["operator"]["password"]) > 16
    with httpx.Client(base_url=served["console_url"], verify=trust, trust_env=False) as client:
        token = re.search('name="csrf" value="([^"]+)"', client.get("/sign-in").text)
        assert token
        client.post("/sign-in", data={"csrf": token[1], **served["operator"]})
        projects = client.get("/projects").text
    assert projects.count("showcase ") == len(served["projects"])
    assert projects.count('<tr role="row">') == len(served["projects"]) + 2


def test_run_has_no_console_to_wait_for(tmp_path: Path) -> None:
    with ExitStack() as stack:
        target = embedded_gateway(Embedded(), Authority(tmp_path), tmp_path, stack)
    assert target.launch is not None
    assert "--console-url" not in target.launch.command
    assert set(target.launch.env) == {"GATEPROOF_CONTROL_TOKEN"}


def test_served_reference_is_conformant_by_control(served: dict[str, Any], tmp_path: Path) -> None:
    target = HEAD.format(**served) + f'[control]\nurl = "{served["control_url"]}"\n'
    (tmp_path / "target.toml").write_text(target)
    code, report = run(tmp_path, "--target", "target.toml", *SOME)
    assert (code, report["verdict"]) == (0, "conformant")
    # Whoever serves the world by hand has launched it himself: nobody else can start another one.
    left_out = {check for check, verdict in verdicts(report).items() if verdict == "not-testable"}
    assert left_out == {check for check in verdicts(report) if check in OF_RESTARTS}
    assert set(verdicts(report).values()) <= {"passed", "observed", "not-testable"}


def test_served_reference_is_conformant_without_control(served: dict[str, Any], tmp_path: Path) -> None:
    secrets: dict[str, str] = {}
    lines = [HEAD.format(**served)]
    for project in served["projects"]:
        lines.append(f'[[projects]]\nid = "{project["id"]}"\nagent_policy = "{project["agent_policy"]}"')
        for resource in project["resources"]:
            lines.append("[[projects.resources]]")
            names = ("id", "indicator", "scopes", "jwks_uri", "merchant_client_id")
            lines += [f"{name} = {json.dumps(resource[name])}" for name in names]
        for client in project["proxy_clients"]:
            variable = f"SECRET_{len(secrets)}"
            secrets[variable] = client["secret"]
            lines += ["[[projects.proxy_clients]]", f'id = "{client["id"]}"', f'secret_env = "{variable}"']
            lines.append(f'state = "{client["state"]}"')
    (tmp_path / "target.toml").write_text("\n".join(lines))

    code, report = run(tmp_path, "--target", "target.toml", "--certify", **secrets)
    assert (code, report["verdict"]) == (4, "incomplete")
    by_rule = {rule["id"]: rule for rule in report["rules"]}
    for rule_id, action in (("KEYS-04", "rotate_keys"), ("REG-14", "advance_clock")):
        assert by_rule[rule_id]["verdict"] == "not-testable"
        assert action in by_rule[rule_id]["reason"]
    assert by_rule["REDEEM-01"]["verdict"] == "passed"
    assert by_rule["REDEEM-05"]["verdict"] == "passed"
    assert report["counts"]["failed"] == report["counts"]["error"] == 0
