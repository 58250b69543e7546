"""Every fault of a client or a network fires, and a check whose fault did not fire is no pass."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from warm import WARM

from gateproof.conformance.faults import agent_side, http_between, network
from gateproof.conformance.faults.intercept.finding import mitmdump

CLIENTS = [each.fault for each in (*agent_side.SLOW.values(), *agent_side.BROKEN.values())]
SINGLE = [agent_side.LOST_ANSWER, agent_side.EMBEDDED, agent_side.IN_WRITES, agent_side.IN_PIECES]
NETWORK = [each.fault for each in (*network.LOST.values(), *network.SLOW.values())]
HTTP = [each.fault for each in (*http_between.LOST.values(), *http_between.ALTERED.values())]
ALL = {fault.name: fault for fault in (*CLIENTS, *SINGLE, *NETWORK, *(HTTP if mitmdump() else ()))}
SOON_S = 20.0
PROGRAM = str(Path(__file__).with_name("network_run.py"))


def found(*arguments: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [*WARM, PROGRAM, *arguments], capture_output=True, text=True, timeout=300, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def honest() -> list[dict[str, Any]]:
    return found()


def test_the_reference_passes_and_nothing_stays_open(honest: list[dict[str, Any]]) -> None:
    *results, last = honest
    usual = {"passed"} if mitmdump() else {"passed", "not-testable"}

    assert [(each["id"], each["message"]) for each in results if each["verdict"] not in usual] == []
    assert {result["verdict"] for result in results} == usual
    # The time zone, or a random source, may have been opened for good; a socket a check would be many.
    assert last["left"] <= 2


def test_every_fault_fires(honest: list[dict[str, Any]]) -> None:
    counted = [fault for result in honest[:-1] for fault in result["faults"]]

    assert {fault["name"] for fault in counted} >= ALL.keys()
    assert [fault for fault in counted if fault["fired"] < 1] == []
    assert {(fault["name"], fault["layer"], fault["hop"]) for fault in counted if fault["name"] in ALL} == {
        (name, fault.layer, fault.hop) for name, fault in ALL.items()
    }


def test_faults_that_do_not_fire_make_their_checks_errors() -> None:
    *results, _ = found("inert")
    named = {fault.name for fault in ALL.values()}
    asked = [result for result in results if result["verdict"] != "not-testable"]

    assert [result["id"] for result in asked if result["verdict"] != "error"] == []
    assert all("never fired" in result["message"] for result in asked)
    assert {
        name for name in named if any(f"the fault {name} never" in each["message"] for each in asked)
    } == named


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc to see who is left")
def test_nobody_is_left_after_an_interruption() -> None:
    """Whoever was started inherits the environment, also where it has a session of its own."""
    mark = f"GATEPROOF_STARTED_BY={secrets.token_hex(8)}"
    name, _, value = mark.partition("=")
    environment = {**os.environ, name: value}
    with subprocess.Popen(
        [sys.executable, PROGRAM], stdout=subprocess.PIPE, text=True, start_new_session=True, env=environment
    ) as process:
        assert process.stdout is not None
        # The intercepting proxy is there when the first check that needs it has ended; without it, any check.
        for line in process.stdout:
            if "intercepted" in line or not mitmdump():
                break
        at_work = marked(mark)
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        process.wait(SOON_S)
    deadline = time.monotonic() + SOON_S
    while (left := marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)

    assert len(at_work) >= (4 if mitmdump() else 3), at_work
    assert left == []


def marked(mark: str) -> list[str]:
    """The processes that have this in their environment."""
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in environment.read_bytes().split(b"\0"):
                found.append((environment.parent / "cmdline").read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue
    return found
