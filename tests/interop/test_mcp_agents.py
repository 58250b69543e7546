"""docs/mcp-agents.md says what the MCP SDKs' clients do as agents."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.suite import rules
from gateproof.conformance.targets.file import load
from gateproof.conformance.targets.model import Target

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent / "mcp_agents"
# What the page has a finding for, and a part of what it has none for: a run of each line.
ASKED = (("AGENT-01", "AGENT-13"), ("AGENT-02", "AGENT-06", "AGENT-10"), ("AGENT-03", "AGENT-07"))


@pytest.fixture(scope="module")
def warm_client() -> Iterator[Sequence[str]]:
    """The command before the arguments of agent.py, which is a fork of a process that has loaded the SDK."""
    python = ROOT / ".venv-mcp-sdk" / "bin" / "python"
    path = os.pathsep.join(map(str, (ROOT, HERE)))
    server = subprocess.Popen(
        [python, "-m", "gateproof.forks.server", "warm_agent"],
        cwd=HERE,
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert server.stdout is not None
    yield (*json.loads(server.stdout.readline()), "warm_agent")
    server.communicate()


@pytest.mark.parametrize("asked", [pytest.param(asked, id="+".join(asked)) for asked in ASKED])
@pytest.mark.parametrize(
    ("name", "failed"),
    [
        pytest.param("python", {"AGENT-01"}, marks=pytest.mark.needs("mcp-sdk")),
        pytest.param(
            "issuer-as-named",
            {"AGENT-02", "AGENT-03", "AGENT-10", "AGENT-13"},
            marks=pytest.mark.needs("mcp-sdk"),
        ),
        pytest.param(
            "typescript",
            {"AGENT-02", "AGENT-03", "AGENT-10", "AGENT-13"},
            marks=pytest.mark.needs("mcp-typescript"),
        ),
    ],
)
def test_client_does_what_the_page_says(
    name: str, failed: set[str], asked: tuple[str, ...], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    selected = rules.select(rules.load().for_role("agent"), asked)
    options = RunOptions(role="agent", seed=5, only=asked)

    target = load(HERE / f"{name}.toml")
    if name != "typescript":
        target = _started_by(request.getfixturevalue("warm_client"), target)
    result = carry_out(target, selected, options, lambda _: None, tmp_path)

    failing = failed & {rule.id for rule in selected}
    assert {rule.id for rule in result.rules if rule.verdict.value == "failed"} == failing
    others = {rule.verdict.value for rule in result.rules if rule.id not in failing}
    assert others == ({"not-testable"} if name == "python" else {"passed"})


def _started_by(command: Sequence[str], target: Target) -> Target:
    """The same client, whose Python is the fork of another one."""
    assert target.launch is not None
    arguments = target.launch.command[2:]
    return replace(target, launch=replace(target.launch, command=(*command, *arguments)))
