"""A suite that judges one target after the other."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from warm import WARM

from gateproof.fakes.gateway.gateway import Addresses, ScriptedGateway, Setup
from gateproof.fakes.gateway.keys import new_key

# A target file, and rules; without rules, all of them.
Judged = Callable[..., dict[str, Any]]


@pytest.fixture
def scripted_gateway() -> ScriptedGateway:
    """A gateway that nobody serves: its script, its journal and its tokens."""
    setup = Setup(
        project_id="prj",
        resource_id="res",
        indicator="https://api.merchant.example",
        scopes=(),
        proxy_client_id="proxy",
        proxy_client_secret="secret",
    )
    addresses = Addresses(base_url="http://b", core_url="http://c", merchant_api_url="http://m")
    return ScriptedGateway(addresses, setup, core_key=new_key("ES256"))


@pytest.fixture(scope="session")
def judged() -> Iterator[Judged]:
    """What the suite says of a target file, in a process that stays for the next one."""
    program = Path(__file__).parent / "run" / "judging.py"
    # A service that was set up by hand has a secret in the environment.
    environment = {**os.environ, "PROXY_SECRET": "a-secret-of-a-dead-target"}
    with subprocess.Popen(
        [*WARM, str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def judge(target: Path, *only: str, faults: bool = True) -> dict[str, Any]:
            asked = {"target": str(target), "only": only, "faults": faults}
            print(json.dumps(asked), file=process.stdin, flush=True)
            answer: dict[str, Any] = json.loads(process.stdout.readline())
            return answer

        yield judge
        process.stdin.close()
        assert process.wait(30) == 0
