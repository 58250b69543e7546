"""Services that are launched over plain ports, and what a run says of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from conformance import rules
from conformance.run.embedded import Embedded
from conformance.run.options import RunOptions
from conformance.run.ports import free_ports
from conformance.run.session import carry_out
from conformance.target.file import load
from conformance.target.model import Target
from reports.verdicts import RunResult

TARGET = """
[target]
role = "service"
name = "launched"
service_url = "https://127.0.0.1:{port}"
[launch]
command = {command}
[operation]
kind = "http"
path = "/orders"
{more}
"""


@pytest.fixture
def launched(tmp_path: Path) -> Callable[[Sequence[str], str], Target]:
    """A target that starts this command, with more in its file."""

    def target(command: Sequence[str], more: str) -> Target:
        file = tmp_path / "launched.toml"
        file.write_text(TARGET.format(port=free_ports(1)[0], command=json.dumps(list(command)), more=more))
        return load(file)

    return target


@pytest.fixture
def judged(tmp_path: Path) -> Callable[..., RunResult]:
    """What a run of some rules says of a target."""

    def result(target: Target | Embedded, *only: str) -> RunResult:
        selected = rules.select(rules.load().for_role("service"), only)
        options = RunOptions(role="service", seed=5, only=only)
        return carry_out(target, selected, options, lambda _: None, tmp_path / "report")

    return result
