"""A target that says the same to everything passes no check, gets a report all the same, and ends in time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from static_projects import static_project
from warm import WARM

from gateproof.conformance.faults.intercept.finding import mitmdump
from gateproof.conformance.suite.vocabulary import NEEDS

sys.path.insert(0, str(Path(__file__).parents[1]))
from dead_answers import DEAD, Say, after_first_contact, always, checks, close, reset, serving

TARGET = """
[target]
role = "gateway"
name = "dead"
version = "0"
base_url = "{url}"
core_url = "{url}"
[limits]
request_timeout_s = 1
"""
CONTROL = """
[control]
url = "{url}/control"
"""
# Every control action but those that a sign-in by forms has no use for.
ACTIONS = (
    *("create_project", "delete_project", "set_agent_policy", "create_resource", "create_proxy_client"),
    *("revoke_proxy_client", "approve_agent", "withhold_redemption_scope", "advance_clock", "rotate_keys"),
    *("logs", "resource_metadata"),
)
# The others are much like these; `make odd-targets` asks them all.
SOME = (
    *("302 to the agent", "400 invalid_grant", "401 invalid_client", "410 reauthentication_required"),
    *("500 server_error", "empty JSON"),
)
WHOLE = "GATEPROOF_WHOLE" in os.environ
ASKED = DEAD if WHOLE else SOME
AN_OBJECT = {
    "DISC-01/answers_200_with_a_json_object",
    "DISC-01/answers_for_every_resource_of_a_project",
    "DISC-01/answers_for_a_resource_of_another_project",
}
# Checks of these go without the intercepting proxy where it is not installed.
WITH_A_PROXY = {"VAULT-06", "VAULT-10"}
# These ask for no more than what the target happens to say.
SAID: dict[str, set[str]] = {
    "empty JSON": AN_OBJECT,
    "echo": AN_OBJECT,
    "JSON list": {"REG-01/valid_registration_answers_201"},
}


def obliging(gateway: str) -> Say:
    """A control that does whatever it is asked, so that no check is left out for want of a Project."""
    number = count(1)

    def say(to: BaseHTTPRequestHandler, sent: bytes) -> None:
        action, new = json.loads(sent)["action"], next(number)
        answers: dict[str, dict[str, Any]] = {
            "describe": {"actions": ACTIONS},
            "create_project": {"project_id": f"prj_{new}"},
            "create_resource": {"resource_id": f"res_{new}", "jwks_uri": f"{gateway}/res_{new}/jwks"},
            "create_proxy_client": {"client_id": f"proxy_{new}", "client_secret": f"secret-of-proxy-{new}"},
            "logs": {"text": ""},
            "resource_metadata": {"document": "{}"},
        }
        always(200, json.dumps(answers.get(action, {})).encode())(to, sent)

    return say


@pytest.fixture
def dead(judged: Callable[[Path], dict[str, Any]], tmp_path: Path) -> Callable[[Say], dict[str, Any]]:
    """What the suite says of a target that answers like this, and whose control does as it is told."""

    def report(say: Say) -> dict[str, Any]:
        file = tmp_path / "dead.toml"
        with serving(say) as url, serving(obliging(url)) as control:
            file.write_text(TARGET.format(url=url) + CONTROL.format(url=control))
            return judged(file)

    return report


def run(folder: Path, url: str) -> tuple[int, dict[str, Any]]:
    target = folder / "dead.toml"
    projects = "".join(static_project(url, number) for number in (1, 2))
    target.write_text(TARGET.format(url=url) + projects)
    done = subprocess.run(
        [*WARM, "gateproof", "run", "--target", str(target), "--quiet"],
        cwd=folder,
        env={"PATH": "", **{f"PROXY_{n}_SECRET": "a-secret-of-a-dead-target" for n in (1, 2)}},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, json.loads((folder / "gateproof-report" / "report.json").read_text())


@pytest.mark.parametrize("case", ASKED)
def test_no_check_passes_on_a_target_that_always_says_the_same(
    dead: Callable[[Say], dict[str, Any]], case: str
) -> None:
    report = dead(DEAD[case])
    assert checks(report, "passed") == SAID.get(case, set())
    assert checks(report, "error") == set()
    assert (report["exit_code"], report["verdict"]) == (1, "not-conformant")
    # Every check was carried out: none was left out for want of a Project, a control or a merchant.
    lacking = {
        rule["id"]
        for rule in report["rules"]
        for check in rule["checks"]
        if "needs " in check["message"] and NEEDS["restart"] not in check["message"]
    }
    assert lacking == {"TLS-01", "AUTHZ-27"} | (WITH_A_PROXY if mitmdump() is None else set())


@pytest.mark.parametrize("say", [close, reset] if WHOLE else [reset])
def test_no_check_passes_on_a_target_that_ends_every_connection(
    dead: Callable[[Say], dict[str, Any]], say: Say
) -> None:
    report = dead(after_first_contact(say))
    assert checks(report, "passed", "error") == set()
    assert report["verdict"] in {"not-conformant", "no-verdict"}


def test_no_check_passes_on_a_target_that_hangs_and_the_run_loses_patience(
    dead: Callable[[Say], dict[str, Any]],
) -> None:
    release = threading.Event()
    report = dead(after_first_contact(lambda *_: release.wait(60) and None))
    release.set()
    assert checks(report, "passed", "error") == set()
    assert report["verdict"] in {"not-conformant", "no-verdict"}
    # A wait for each of the checks would take the better part of an hour.
    assert any("did not keep up" in rule["reason"] for rule in report["rules"])


@pytest.mark.parametrize("say", [close, reset])
def test_target_that_ends_the_first_connection_has_no_verdict(
    dead: Callable[[Say], dict[str, Any]], say: Say
) -> None:
    assert dead(say)["verdict"] == "no-verdict"


@pytest.mark.parametrize("case", ["401 invalid_client", "empty JSON"])
def test_no_check_passes_in_projects_that_were_made_by_hand(case: str, tmp_path: Path) -> None:
    with serving(DEAD[case]) as url:
        code, report = run(tmp_path, url)
    assert checks(report, "passed") == SAID.get(case, set())
    assert checks(report, "error") == set()
    assert (code, report["verdict"]) == (1, "not-conformant")


def test_target_that_is_down_has_no_verdict(tmp_path: Path) -> None:
    code, report = run(tmp_path, "http://127.0.0.1:1")
    assert (code, report["verdict"]) == (3, "no-verdict")
    assert "the connection was refused" in report["reason"]


def test_target_that_hangs_is_given_up(tmp_path: Path) -> None:
    release = threading.Event()
    with serving(lambda *_: release.wait(60) and None) as url:
        code, report = run(tmp_path, url)
        release.set()
    assert (code, report["verdict"]) == (3, "no-verdict")
    assert "no answer within" in report["reason"]
