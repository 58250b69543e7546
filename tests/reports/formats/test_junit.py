"""junit.xml: nothing untested is green, what does not decide stands apart, and a failure explains itself."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from gateproof.reports.formats import render
from gateproof.reports.verdicts import RunResult, RunVerdict, Verdict


def junit(result: RunResult) -> ElementTree.Element:
    return ElementTree.fromstring(render("junit", result)["junit.xml"])  # noqa: S314 - our own output


def case(result: RunResult, rule: str) -> ElementTree.Element:
    (found,) = [each for each in junit(result).iter("testcase") if str(each.get("name")).startswith(rule)]
    return found


@pytest.mark.parametrize(
    ("rule", "outcome", "message"),
    [
        ("DISC-07", "skipped", "observed, not judged: the specification leaves it open"),
        ("REDEEM-05", "failure", "redeem: expected status 401, got 200"),
        ("CODE-11", "failure", "does not decide (level rfc): no-store is missing"),
        ("CODE-02", "failure", "does not decide (baseline: ticket 12, until the next release): known"),
        ("VAULT-01", "error", "control failed: 500"),
        ("KEYS-04", "skipped", "not-testable: control:rotate_keys is missing"),
        ("META-01", "skipped", "not-applicable: not for this role"),
        ("AUTHZ-07", "skipped", "not-testable: no check exists for this rule yet"),
    ],
)
def test_every_verdict_but_passed_has_its_element(
    runs: dict[str, RunResult], rule: str, outcome: str, message: str
) -> None:
    (said,) = case(runs["mixed"], rule)
    assert said.tag == outcome
    assert said.get("message") == message


def test_only_what_passed_is_plain(sample: RunResult) -> None:
    plain = [each for each in junit(sample).iter("testcase") if len(each) == 0]
    passed = [rule.id for rule in sample.rules if rule.verdict is Verdict.PASSED]
    assert [str(each.get("name")).split()[0] for each in plain] == passed


def test_failures_that_do_not_decide_are_in_suites_of_their_own(runs: dict[str, RunResult]) -> None:
    assert case(runs["mixed"], "CODE-11").get("classname") == "gateproof.gateway.CODE.not-deciding"
    assert case(runs["strict"], "CODE-11").get("classname") == "gateproof.gateway.CODE"


def test_a_failure_says_all_that_is_needed(runs: dict[str, RunResult]) -> None:
    text = case(runs["mixed"], "REDEEM-05")[0].text or ""
    for part in (
        "What REDEEM-05 demands [spec]",
        "section: Endpoints > Gateway endpoints > Credential redemption",
        "A token of one Project would open another.",
        "expected: status 401",
        "got: 200",
        "--- register",
        "Authorization: Bearer ⟨access_token#1⟩",
        '-H "Authorization: Bearer ${ACCESS_TOKEN_1}"',
    ):
        assert part in text


def test_properties_and_counts(runs: dict[str, RunResult]) -> None:
    root = junit(runs["mixed"])
    suite = next(each for each in root if each.get("name") == "gateway.REDEEM")
    properties = {each.get("name"): each.get("value") for each in suite.iter("property")}
    assert properties["seed"] == "42"
    assert properties["target"] == "acme-gateway 2.1.0"
    assert properties["REDEEM-05.level"] == "spec"
    assert properties["REDEEM-05.section"] == "Endpoints > Gateway endpoints > Credential redemption"
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("10", "4", "1")
    assert all((each.text or "") == "" for each in root.iter("system-out"))


@pytest.mark.parametrize("name", ["interrupted", "empty"])
def test_a_run_without_a_verdict_is_no_list_of_skipped_cases(runs: dict[str, RunResult], name: str) -> None:
    first = next(junit(runs[name]).iter("testcase"))
    assert first[0].tag == "error"
    assert first[0].get("type") == "cut-short"
    assert "did not finish" in (first[0].text or "")


@pytest.mark.parametrize("verdict", [RunVerdict.NOT_CONFORMANT, RunVerdict.INCOMPLETE, RunVerdict.NO_VERDICT])
def test_a_verdict_that_no_rule_accounts_for_is_a_case_of_its_own(
    runs: dict[str, RunResult], verdict: RunVerdict
) -> None:
    result = replace(runs["green"], verdict=verdict, reason="the baseline lists CODE-02, which passes")
    first = next(junit(result).iter("testcase"))
    assert (first[0].tag, first[0].get("type")) == ("error", verdict.value)
    assert first[0].get("message") == "the baseline lists CODE-02, which passes"
