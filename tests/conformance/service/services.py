"""Target files for small services that are launched, and what a run says of some rules of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.suite import rules
from gateproof.conformance.targets.model import Target
from gateproof.conformance.wire.ports import free_ports
from gateproof.reports.verdicts import RunResult

HTTP = 'kind = "http"\npath = "/orders"'
MCP = 'kind = "mcp"\npath = "/mcp"\ntool = "list_orders"'
_TARGET = """
[target]
role = "service"
name = "small"
service_url = "https://127.0.0.1:{port}"
[launch]
command = {command}
[operation]
{operation}
"""


def written(folder: Path, command: Sequence[str], operation: str) -> Path:
    """A target file for this command and this operation."""
    file = folder / "small.toml"
    port = free_ports(1)[0]
    file.write_text(_TARGET.format(port=port, command=json.dumps(list(command)), operation=operation))
    return file


def result_of(target: Target | Embedded, folder: Path, *only: str) -> RunResult:
    """What a run of these rules says, whose record goes into this folder."""
    selected = rules.select(rules.load().for_role("service"), only)
    options = RunOptions(role="service", seed=5, only=only)
    return carry_out(target, selected, options, lambda _: None, folder / "report")
