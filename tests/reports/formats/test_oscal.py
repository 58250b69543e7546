"""oscal-assessment-results.json: a finding for what was tested, an observation for everything else."""

from __future__ import annotations

import json
from typing import Any

from gateproof.reports.formats import render
from gateproof.reports.verdicts import RunResult, Verdict


def document(result: RunResult) -> dict[str, Any]:
    content = render("oscal", result)["oscal-assessment-results.json"]
    return dict(json.loads(content)["assessment-results"])


def props(item: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["value"] for each in item["props"]}


def test_only_what_passed_or_failed_is_a_finding(sample: RunResult) -> None:
    (found,) = document(sample)["results"]
    states = {
        each["target"]["target-id"]: each["target"]["status"]["state"] for each in found.get("findings", [])
    }
    assert states == {
        rule.id: "satisfied" if rule.verdict is Verdict.PASSED else "not-satisfied"
        for rule in sample.rules
        if rule.verdict in {Verdict.PASSED, Verdict.FAILED}
    }


def test_every_rule_is_an_observation_with_its_verdict(sample: RunResult) -> None:
    (found,) = document(sample)["results"]
    verdicts = [props(each)["verdict"] for each in found.get("observations", [])]
    assert verdicts == [rule.verdict.value for rule in sample.rules]


def test_a_failure_that_does_not_decide_says_so(runs: dict[str, RunResult]) -> None:
    (found,) = document(runs["mixed"])["results"]
    decides = {each["target"]["target-id"]: props(each)["decides"] for each in found["findings"]}
    assert decides == {
        "DISC-01": "yes",
        "REDEEM-05": "yes",
        "REDEEM-06": "yes",
        "CODE-11": "no",
        "CODE-02": "no",
    }


def test_identifiers_are_all_different_and_of_this_run(runs: dict[str, RunResult]) -> None:
    text = render("oscal", runs["mixed"])["oscal-assessment-results.json"].decode("utf-8")
    own = [line.strip() for line in text.splitlines() if line.strip().startswith('"uuid"')]
    assert len(own) == len(set(own))
    (found,) = document(runs["mixed"])["results"]
    known = {each["uuid"] for each in found["observations"]}
    for finding in found["findings"]:
        assert {each["observation-uuid"] for each in finding["related-observations"]} <= known


def test_an_interrupted_run_says_so_first(runs: dict[str, RunResult]) -> None:
    (found,) = document(runs["interrupted"])["results"]
    assert found["description"].startswith("The run did not finish: interrupted.")
    assert props(found)["complete"] == "no"


def test_the_record_is_named_with_its_digest(runs: dict[str, RunResult]) -> None:
    plan, record = document(runs["mixed"])["back-matter"]["resources"]
    assert document(runs["mixed"])["import-ap"]["href"] == f"#{plan['uuid']}"
    assert record["rlinks"][0]["hashes"] == [{"algorithm": "SHA-256", "value": "ab" * 32}]
