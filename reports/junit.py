"""junit.xml: rules are test cases, families are suites; untested rules are skipped, with a reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gateproof.reports.escaping import attribute, one_line, xml
from gateproof.reports.exchanges import answer_text, request_text
from gateproof.reports.families import FAMILIES, family_of
from gateproof.reports.summary_texts import (
    by_hand,
    caveats,
    decides,
    duration_s,
    of,
    started,
    target_name,
    verdict_words,
)
from gateproof.reports.verdicts import CheckResult, RuleResult, RunResult, RunVerdict, Verdict

_BROKEN = {Verdict.FAILED: "failure", Verdict.ERROR: "error"}
_SHOWN_EXCHANGES = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class _Case:
    """One test case; `outcome` is failure, error, skipped, or empty for passed."""

    suite: str
    name: str
    time_s: float
    outcome: str = ""
    kind: str = ""
    message: str = ""
    text: str = ""


def render(result: RunResult) -> dict[str, bytes]:
    """The file and its content."""
    cases = [*_of_the_run(result), *(_of_a_rule(result, rule) for rule in result.rules)]
    suites: dict[str, list[_Case]] = {}
    for case in cases:
        suites.setdefault(case.suite, []).append(case)
    name = f"gateproof {verdict_words(result)}: {target_name(result)}"
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(_opening("testsuites", _counted(name, cases, time=f"{duration_s(result):.3f}")))
    for suite, members in suites.items():
        lines += _suite(result, suite, members)
    return {"junit.xml": "\n".join([*lines, "</testsuites>", ""]).encode("utf-8")}


def _suite(result: RunResult, name: str, cases: Sequence[_Case]) -> list[str]:
    counted = _counted(
        name,
        cases,
        skipped=str(_count(cases, "skipped")),
        time=f"{sum(case.time_s for case in cases):.3f}",
        timestamp=started(result).isoformat(timespec="seconds"),
    )
    return [
        _opening("testsuite", counted),
        "<properties>",
        *(
            _opening("property", {"name": key, "value": value}, empty=True)
            for key, value in _properties(result, name)
        ),
        "</properties>",
        *(line for case in cases for line in _case(case)),
        "<system-out></system-out>",
        "</testsuite>",
    ]


def _opening(element: str, attributes: Mapping[str, str], *, empty: bool = False) -> str:
    words = [element, *(f"{name}={attribute(value)}" for name, value in attributes.items())]
    return f"<{' '.join(words)}{'/' if empty else ''}>"


def _counted(name: str, cases: Sequence[_Case], **more: str) -> dict[str, str]:
    failures, errors = _count(cases, "failure"), _count(cases, "error")
    return {"name": name, "tests": str(len(cases)), "failures": str(failures), "errors": str(errors), **more}


def _count(cases: Iterable[_Case], outcome: str) -> int:
    return sum(case.outcome == outcome for case in cases)


def _properties(result: RunResult, suite: str) -> list[tuple[str, str]]:
    """Strict schemas allow properties only on a suite, so a rule's properties have its ID in their name."""
    found = [
        ("target", target_name(result)),
        ("role", result.role),
        ("verdict", result.verdict.value),
        ("seed", str(result.run.get("seed", ""))),
    ]
    found += [("caveat", one_line(caveat)) for caveat in caveats(result)]
    for rule in result.rules:
        if _suite_of(result, rule) == suite:
            found += [(f"{rule.id}.level", rule.level), (f"{rule.id}.section", one_line(rule.section))]
            found += [(f"{rule.id}.standard", one_line(rule.standard))] if rule.standard else []
            found += [(f"{rule.id}.baselined", one_line(rule.baselined))] if rule.baselined else []
    return found


def _case(case: _Case) -> list[str]:
    names = {"classname": f"gateproof.{case.suite}", "name": case.name, "time": f"{case.time_s:.3f}"}
    if not case.outcome:
        return [_opening("testcase", names, empty=True)]
    said = {"type": case.kind, "message": case.message} if case.kind else {"message": case.message}
    return [
        _opening("testcase", names),
        f"{_opening(case.outcome, said)}{xml(case.text)}</{case.outcome}>",
        "</testcase>",
    ]


def _of_the_run(result: RunResult) -> list[_Case]:
    """A case for the run itself, if it did not finish or its verdict does not follow from its rules."""
    complete = result.run.get("complete", True)
    explained = result.verdict is RunVerdict.CONFORMANT or any(
        decides(result, rule) for rule in of(result, Verdict.FAILED)
    )
    if complete and explained:
        return []
    return [
        _Case(
            suite=f"{result.role}.RUN",
            name="the run ends with a verdict that follows from its rules",
            time_s=0.0,
            outcome="error",
            kind=result.verdict.value if complete else "cut-short",
            message=one_line(result.reason),
            text="\n".join(caveats(result)),
        )
    ]


def _of_a_rule(result: RunResult, rule: RuleResult) -> _Case:
    outcome = _BROKEN.get(rule.verdict, "" if rule.verdict is Verdict.PASSED else "skipped")
    said = one_line(rule.reason)
    if rule.verdict is Verdict.OBSERVED:
        said = "observed, not judged: the specification leaves it open"
    elif outcome == "skipped":
        said = f"{rule.verdict.value}: {said}"
    elif rule.verdict is Verdict.FAILED and not decides(result, rule):
        said = f"does not decide ({_why_not(rule)}): {said}"
    return _Case(
        suite=_suite_of(result, rule),
        name=one_line(f"{rule.id} {rule.title}"),
        time_s=sum(check.duration_s for check in rule.checks),
        outcome=outcome,
        kind=rule.level if outcome == "failure" else rule.verdict.value if outcome == "error" else "",
        message=said if outcome else "",
        text=_broken(result, rule) if rule.verdict in _BROKEN else _observed(rule),
    )


def _suite_of(result: RunResult, rule: RuleResult) -> str:
    """Failures that do not decide are in separate suites."""
    family = f"{result.role}.{family_of(rule.id)}"
    apart = rule.verdict is Verdict.FAILED and not decides(result, rule)
    return f"{family}.not-deciding" if apart else family


def _why_not(rule: RuleResult) -> str:
    return f"baseline: {one_line(rule.baselined)}" if rule.baselined else f"level {rule.level}"


def _observed(rule: RuleResult) -> str:
    seen = {key: value for check in rule.checks for key, value in check.observations.items()}
    return "\n".join(f"{key}: {one_line(str(value))}" for key, value in seen.items())


def _broken(result: RunResult, rule: RuleResult) -> str:
    """All information about a failure, so that no other file is needed."""
    standing = [
        f"{rule.title} [{rule.level}]",
        f"family: {FAMILIES.get(family_of(rule.id), family_of(rule.id))}",
        f"section: {rule.section}",
    ]
    blocks = ["\n".join([*standing, *([f"standard: {rule.standard}"] if rule.standard else [])])]
    blocks += [part.strip() for part in (rule.holds, rule.why) if part.strip()]
    blocks += [_check(result, rule, check) for check in rule.checks if check.verdict in _BROKEN]
    return "\n\n".join(blocks)


def _check(result: RunResult, rule: RuleResult, check: CheckResult) -> str:
    lines = [f"{check.verdict.value}: {check.id}", check.message]
    if check.expected:
        lines += [f"expected: {check.expected}", f"got: {check.got}"]
    end = len(check.exchanges) if check.decisive is None else check.decisive + 1
    shown = check.exchanges[max(0, end - _SHOWN_EXCHANGES) : end]
    if len(shown) < end:
        before = ", ".join(exchange.step for exchange in check.exchanges[: end - len(shown)])
        lines.append(f"before: {before}")
    for exchange in shown:
        lines += ["", f"--- {exchange.step}", request_text(exchange), "", answer_text(exchange)]
    if command := by_hand(result, rule, check):
        lines += ["", "--- by hand", command]
    return "\n".join(lines)
