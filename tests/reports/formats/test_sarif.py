"""gateproof.sarif: failures only, anchored to the target file, and honest about what was not tested."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from gateproof.reports.formats import render
from gateproof.reports.verdicts import RunResult


def run_of(result: RunResult) -> dict[str, Any]:
    (run,) = json.loads(render("sarif", result)["gateproof.sarif"])["runs"]
    return dict(run)


def test_failures_only_and_what_they_cost(runs: dict[str, RunResult]) -> None:
    levels = {alert["ruleId"]: alert["level"] for alert in run_of(runs["mixed"])["results"]}
    assert levels == {"REDEEM-05": "error", "REDEEM-06": "error", "CODE-11": "warning", "CODE-02": "warning"}
    assert {alert["ruleId"]: alert["level"] for alert in run_of(runs["strict"])["results"]}[
        "CODE-11"
    ] == "error"
    assert run_of(runs["green"])["results"] == []


def test_a_rule_is_found_by_its_index_and_explains_itself(runs: dict[str, RunResult]) -> None:
    run = run_of(runs["mixed"])
    for alert in run["results"]:
        rule = run["tool"]["driver"]["rules"][alert["ruleIndex"]]
        assert rule["id"] == alert["ruleId"]
        assert "A token of one Project would open another." in rule["help"]["text"]


def test_the_same_failure_has_the_same_fingerprint_in_another_run(runs: dict[str, RunResult]) -> None:
    one = runs["mixed"]
    other = replace(one, run={**one.run, "run_id": "another", "seed": 7})
    prints = [[each["partialFingerprints"] for each in run_of(result)["results"]] for result in (one, other)]
    assert prints[0] == prints[1]
    assert len({json.dumps(each) for each in prints[0]}) == 4
    assert run_of(one)["results"][0]["guid"] != run_of(other)["results"][0]["guid"]


@pytest.mark.parametrize(
    ("command", "uri"),
    [
        ("gateproof run --target 'targets/my gateway.toml' --seed 42", "targets/my%20gateway.toml"),
        ("gateproof run --target gateway.toml", "gateway.toml"),
        ("gateproof run --target /srv/secret-place/gateway.toml", "gateway.toml"),
        ("gateproof run --target ../gateway.toml", "gateway.toml"),
        ("gateproof run --target '~/x/gateway.toml'", "gateway.toml"),
        ("gateproof run --target C:\\\\x\\\\gateway.toml", "gateway.toml"),
        ("gateproof run --seed 42", "report.json"),
        ("gateproof run --target 'torn", "report.json"),
        ("", "report.json"),
    ],
)
def test_alerts_point_to_the_target_file_by_a_relative_path(
    runs: dict[str, RunResult], command: str, uri: str
) -> None:
    result = replace(runs["mixed"], run={**runs["mixed"].run, "command": command})
    for alert in run_of(result)["results"]:
        (location,) = alert["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"] == uri
        assert location["physicalLocation"]["region"] == {"startLine": 1}


def test_the_invocation_tells_what_an_empty_list_would_hide(runs: dict[str, RunResult]) -> None:
    (invocation,) = run_of(runs["interrupted"])["invocations"]
    assert invocation["executionSuccessful"] is False
    said = [each["message"]["text"] for each in invocation["toolExecutionNotifications"]]
    assert said[0].startswith("The run did not finish: interrupted.")
    (invocation,) = run_of(runs["mixed"])["invocations"]
    assert invocation["executionSuccessful"] is True
    said = [each["message"]["text"] for each in invocation["toolExecutionNotifications"]]
    assert "not tested: KEYS-04: control:rotate_keys is missing" in said
    assert "VAULT-01 ended in an error: control failed: 500" in said


def test_hostile_text_is_neither_a_placeholder_nor_a_link(runs: dict[str, RunResult]) -> None:
    (alert,) = run_of(runs["hostile"])["results"]
    text = alert["message"]["text"]
    assert "{{0}}" in text
    assert "](" not in text


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ({}, 1),
        ({"target": 2}, 2),
        ({"target": 2, "base_url": 4}, 4),
        ({"target": 2, "base_url": 4, "projects.resources": 30}, 30),
    ],
)
def test_alert_points_to_the_line_that_is_nearest_to_what_the_rule_is_about(
    lines: dict[str, int], expected: int, runs: dict[str, RunResult]
) -> None:
    result = replace(runs["mixed"], target={**runs["mixed"].target, "lines": lines})
    log = json.loads(render("sarif", result)["gateproof.sarif"])
    alert = next(each for each in log["runs"][0]["results"] if each["ruleId"].startswith("REDEEM"))
    assert alert["locations"][0]["physicalLocation"]["region"]["startLine"] == expected
