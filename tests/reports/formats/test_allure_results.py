"""allure-results: the rule, its steps and its exchanges, and nothing that pytest saw."""

from __future__ import annotations

import json
from typing import Any

from gateproof.reports.formats import render
from gateproof.reports.verdicts import RunResult, Verdict


def results_of(result: RunResult) -> dict[str, dict[str, Any]]:
    files = render("allure", result)
    found = [json.loads(content) for path, content in files.items() if path.endswith("-result.json")]
    return {each["name"].split()[0]: each for each in found}


def labels(test: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["value"] for each in test["labels"]}


def test_only_what_passed_is_green(sample: RunResult) -> None:
    statuses = {
        Verdict.PASSED: "passed",
        Verdict.FAILED: "failed",
        Verdict.ERROR: "broken",
        Verdict.NOT_TESTABLE: "skipped",
        Verdict.NOT_APPLICABLE: "skipped",
        Verdict.OBSERVED: "skipped",
    }
    found = results_of(sample)
    assert {rule.id: found[rule.id]["status"] for rule in sample.rules} == {
        rule.id: statuses[rule.verdict] for rule in sample.rules
    }


def test_a_status_says_why(runs: dict[str, RunResult]) -> None:
    said = {
        name: each.get("statusDetails", {}).get("message") for name, each in results_of(runs["mixed"]).items()
    }
    assert said["DISC-01"] is None
    assert said["DISC-07"] == "observed: the specification leaves it open, so it is not judged"
    assert said["KEYS-04"] == "not-testable: control:rotate_keys is missing"
    assert said["CODE-11"] == "failed, does not decide (level rfc): no-store is missing"
    assert said["VAULT-01"] == "error: control failed: 500"


def test_a_rule_comes_with_its_section_and_severity(runs: dict[str, RunResult]) -> None:
    found = results_of(runs["mixed"])
    severities = {name: labels(each)["severity"] for name, each in found.items()}
    assert severities["REDEEM-05"] == "blocker"
    assert severities["REDEEM-06"] == "critical"
    assert severities["CODE-11"] == "normal"
    assert severities["DISC-07"] == "trivial"
    parameters = {each["name"]: each["value"] for each in found["CODE-11"]["parameters"]}
    assert parameters["section"] == "Endpoints > Gateway endpoints > Credential redemption"
    assert parameters["standard"] == "RFC 6749 section 5.1"


def test_exchanges_are_steps_and_the_last_one_broke_the_check(runs: dict[str, RunResult]) -> None:
    step, passed = results_of(runs["mixed"])["REDEEM-05"]["steps"]
    assert [each["status"] for each in step["steps"]] == ["passed", "failed"]
    assert passed["status"] == "passed"
    files = render("allure", runs["mixed"])
    (attachment,) = step["steps"][-1]["attachments"]
    text = files[f"allure-results/{attachment['source']}"].decode("utf-8")
    assert "Authorization: Bearer ⟨access_token#1⟩" in text
    assert "${ACCESS_TOKEN_1}" in text


def test_every_attachment_is_there_and_every_file_is_used(sample: RunResult) -> None:
    files = render("allure", sample)
    named = {
        attachment["source"]
        for test in results_of(sample).values()
        for step in test.get("steps", [])
        for exchange in step.get("steps", [])
        for attachment in exchange.get("attachments", [])
    }
    there = {path.rpartition("/")[2] for path in files if path.endswith("-attachment.txt")}
    assert there == named


def test_the_history_of_a_rule_goes_on_in_another_run(runs: dict[str, RunResult]) -> None:
    one = {each["historyId"] for each in results_of(runs["mixed"]).values()}
    other = {each["historyId"] for each in results_of(runs["strict"]).values()}
    assert one == other


def test_an_interrupted_run_has_a_broken_test_of_its_own(runs: dict[str, RunResult]) -> None:
    found = results_of(runs["interrupted"])["The"]
    assert found["status"] == "broken"
    assert found["statusDetails"]["message"] == "run: interrupted"


def test_facts_are_properties_in_ascii(runs: dict[str, RunResult]) -> None:
    content = render("allure", runs["hostile"])["allure-results/environment.properties"]
    lines = content.decode("ascii").splitlines()
    assert all("=" in line for line in lines)
    assert len({line.partition("=")[0] for line in lines}) == len(lines)
