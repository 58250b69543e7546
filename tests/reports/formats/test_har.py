"""exchanges.har: every exchange that a check carries, in the order of time, with its secrets as marks."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

from gateproof.reports.formats import render
from gateproof.reports.verdicts import RunResult


def log_of(result: RunResult) -> dict[str, Any]:
    return dict(json.loads(render("har", result)["exchanges.har"])["log"])


def test_every_exchange_is_an_entry_of_its_check(runs: dict[str, RunResult]) -> None:
    carried = [
        (rule.id, check.id) for rule in runs["mixed"].rules for check in rule.checks for _ in check.exchanges
    ]
    entries = log_of(runs["mixed"])["entries"]
    assert sorted((each["_rule"], each["_check"]) for each in entries) == sorted(carried)
    assert {each["pageref"] for each in entries} == {each["id"] for each in log_of(runs["mixed"])["pages"]}


def test_time_begins_with_the_first_exchange(runs: dict[str, RunResult]) -> None:
    entries = log_of(runs["mixed"])["entries"]
    times = [each["startedDateTime"] for each in entries]
    assert times == sorted(times)
    assert times[0] == "2026-11-21T10:00:00.000+00:00"
    assert times[-1] == "2026-11-21T10:00:00.500+00:00"
    assert entries[0]["time"] == 250


def test_the_mark_of_a_secret_stays_one_in_an_address(runs: dict[str, RunResult]) -> None:
    request = log_of(runs["mixed"])["entries"][0]["request"]
    assert request["url"].endswith("?code=%E2%9F%A8code%231%E2%9F%A9&state=a%20b")
    assert urlsplit(request["url"]).fragment == ""
    assert request["queryString"] == [
        {"name": "code", "value": "⟨code#1⟩"},
        {"name": "state", "value": "a b"},
    ]
    assert request["postData"]["mimeType"] == "application/json"


def test_no_answer_is_told_from_an_answer(runs: dict[str, RunResult]) -> None:
    (nobody,) = [each for each in log_of(runs["mixed"])["entries"] if each["response"]["status"] == 0]
    assert nobody["_error"] == "connection reset"
    answered = log_of(runs["mixed"])["entries"][0]["response"]
    assert (answered["status"], answered["redirectURL"]) == (200, "https://a.test/")
    assert "_error" not in log_of(runs["mixed"])["entries"][0]


def test_an_interrupted_run_says_so(runs: dict[str, RunResult]) -> None:
    assert "The run did not finish: interrupted." in log_of(runs["interrupted"])["comment"]
