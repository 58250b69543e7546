"""docs/mcp-agents.md says what the MCP SDKs' clients do as agents."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.suite import rules
from gateproof.conformance.targets.file import load

HERE = Path(__file__).parent / "mcp_agents"
# What the page has a finding for, and a part of what it has none for: a run of each line. One of the clients
# needs two seconds to start, so that a single run would take minutes.
ASKED = (("AGENT-01", "AGENT-13"), ("AGENT-02", "AGENT-06", "AGENT-10"), ("AGENT-03", "AGENT-07"))


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
    name: str, failed: set[str], asked: tuple[str, ...], tmp_path: Path
) -> None:
    selected = rules.select(rules.load().for_role("agent"), asked)
    options = RunOptions(role="agent", seed=5, only=asked)

    result = carry_out(load(HERE / f"{name}.toml"), selected, options, lambda _: None, tmp_path)

    failing = failed & {rule.id for rule in selected}
    assert {rule.id for rule in result.rules if rule.verdict.value == "failed"} == failing
    others = {rule.verdict.value for rule in result.rules if rule.id not in failing}
    assert others == ({"not-testable"} if name == "python" else {"passed"})
