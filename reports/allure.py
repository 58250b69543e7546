"""allure-results: the input files of Allure 2 and Allure 3.

They are generated from the same values as every other output. Nothing from pytest is included: no arguments,
diffs, captured output or tracebacks. Rules that were not tested, or are never judged, are skipped tests in
Allure, so they are not green.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from allure_commons.model2 import (
    Attachment,
    Label,
    Parameter,
    Status,
    StatusDetails,
    TestResult,
    TestStepResult,
)
from allure_commons.types import AttachmentType, LabelType, Severity
from attr import asdict

from gateproof.reports.escaping import json_bytes, one_line, visible, xml
from gateproof.reports.exchanges import Shown, answer_text, curl, request_text
from gateproof.reports.families import FAMILIES, family_of
from gateproof.reports.summary_texts import (
    caveats,
    cut_short,
    decides,
    duration_s,
    has_own_ca,
    identifier,
    of,
    started,
    target_name,
    verdict_words,
)
from gateproof.reports.verdicts import CheckResult, RuleResult, RunResult, RunVerdict, Verdict

_FOLDER = "allure-results"
_STATUS = {
    Verdict.PASSED: Status.PASSED,
    Verdict.FAILED: Status.FAILED,
    Verdict.ERROR: Status.BROKEN,
    Verdict.NOT_TESTABLE: Status.SKIPPED,
    Verdict.NOT_APPLICABLE: Status.SKIPPED,
    Verdict.OBSERVED: Status.SKIPPED,
}
_SEVERITY = {
    "spec": Severity.BLOCKER,
    "entailed": Severity.CRITICAL,
    "rfc": Severity.NORMAL,
    "silent": Severity.TRIVIAL,
}
# Only regular expression syntax that Java and JavaScript share.
_CATEGORIES = [
    ("The run was cut short, or has no verdict", Status.BROKEN, "run: [\\s\\S]*"),
    ("Broken, and decides", Status.FAILED, "failed: [\\s\\S]*"),
    ("Broken, without deciding", Status.FAILED, "failed, does not decide[\\s\\S]*"),
    ("Ended in an error", Status.BROKEN, "error: [\\s\\S]*"),
    ("Not tested", Status.SKIPPED, "not-testable: [\\s\\S]*"),
    ("Observed, not judged", Status.SKIPPED, "observed: [\\s\\S]*"),
    ("Not applicable", Status.SKIPPED, "not-applicable: [\\s\\S]*"),
]


@dataclass(kw_only=True, slots=True)
class _Folder:
    """The files so far, and their run."""

    result: RunResult
    files: dict[str, bytes] = field(default_factory=dict)
    zero_s: float = 0.0

    def add_result(self, test: TestResult) -> None:
        values = asdict(test, filter=lambda _, value: bool(value) or value is False)
        self.files[f"{_FOLDER}/{test.uuid}-result.json"] = json_bytes(values, indent=None)

    def attach(self, name: str, text: str, *path: str) -> Attachment:
        source = f"{identifier(self.result, 'allure', *path)}-attachment.txt"
        self.files[f"{_FOLDER}/{source}"] = visible(text).encode("utf-8")
        return Attachment(name=one_line(name), source=source, type=AttachmentType.TEXT.mime_type)

    def moment_ms(self, at_s: float) -> int:
        return round((started(self.result).timestamp() + at_s) * 1000)


def render(result: RunResult) -> dict[str, bytes]:
    """The files by path."""
    times = [shown.at_s for rule in result.rules for check in rule.checks for shown in check.exchanges]
    folder = _Folder(result=result, zero_s=min(times, default=0.0))
    if result.verdict in {RunVerdict.NO_VERDICT, RunVerdict.INCOMPLETE} or cut_short(result):
        folder.add_result(_of_the_run(folder))
    for rule in result.rules:
        folder.add_result(_of_a_rule(folder, rule))
    folder.files[f"{_FOLDER}/categories.json"] = json_bytes(
        [
            {"name": name, "matchedStatuses": [status], "messageRegex": expression}
            for name, status, expression in _CATEGORIES
        ]
    )
    folder.files[f"{_FOLDER}/environment.properties"] = _environment(result)
    folder.files[f"{_FOLDER}/executor.json"] = json_bytes(
        {
            "name": "gateproof",
            "type": "gateproof",
            "buildName": one_line(f"{result.role} {target_name(result)}"),
            "reportName": one_line(f"gateproof {target_name(result)}: {verdict_words(result)}"),
        }
    )
    return folder.files


def _of_the_run(folder: _Folder) -> TestResult:
    """A test for the run itself. Without it, an interrupted run would look like a complete small one."""
    result = folder.result
    return TestResult(
        uuid=str(identifier(result, "allure", "run")),
        historyId=f"gateproof/{result.role}/run",
        fullName=f"gateproof.{result.role}.run",
        name="The run ends with a verdict",
        status=Status.BROKEN,
        statusDetails=StatusDetails(
            message=visible(f"run: {result.reason}"), trace="\n".join(caveats(result))
        ),
        stage="finished",
        labels=_labels(result, "RUN", "The run", Severity.BLOCKER, ()),
        start=folder.moment_ms(0.0),
        stop=folder.moment_ms(duration_s(result)),
    )


def _of_a_rule(folder: _Folder, rule: RuleResult) -> TestResult:
    result, family = folder.result, family_of(rule.id)
    steps = [_of_a_check(folder, check) for check in rule.checks]
    begun = min((step.start for step in steps), default=folder.moment_ms(0.0))
    return TestResult(
        uuid=str(identifier(result, "allure", rule.id)),
        historyId=f"gateproof/{result.role}/{rule.id}",
        testCaseId=f"gateproof/{result.role}/{rule.id}",
        fullName=f"gateproof.{result.role}.{family}.{rule.id}",
        name=one_line(f"{rule.id} {rule.title}"),
        descriptionHtml=_description(rule),
        status=_STATUS[rule.verdict],
        statusDetails=_details(result, rule),
        stage="finished",
        labels=_labels(
            result,
            family,
            FAMILIES.get(family, family),
            _SEVERITY[rule.level],
            (rule.level, rule.verdict.value),
        ),
        parameters=[
            Parameter(name=name, value=one_line(value))
            for name, value in (
                ("section", rule.section),
                ("standard", rule.standard),
                ("level", rule.level),
                ("baseline", rule.baselined),
            )
            if value
        ],
        steps=steps,
        titlePath=[result.role, family],
        start=begun,
        stop=begun + round(sum(check.duration_s for check in rule.checks) * 1000),
    )


def _details(result: RunResult, rule: RuleResult) -> StatusDetails | None:
    match rule.verdict:
        case Verdict.PASSED:
            return None
        case Verdict.OBSERVED:
            seen = [f"{key}: {value}" for check in rule.checks for key, value in check.observations.items()]
            said = "observed: the specification leaves it open, so it is not judged"
            return StatusDetails(message=said, trace=visible("\n".join(seen)))
        case Verdict.FAILED if not decides(result, rule):
            why = f"baseline: {rule.baselined}" if rule.baselined else f"level {rule.level}"
            said = f"failed, does not decide ({why}): {rule.reason}"
        case verdict:
            said = f"{verdict.value}: {rule.reason}"
    trace = [f"{check.id}\n{check.message}" for check in rule.checks if check.verdict is rule.verdict]
    return StatusDetails(
        known=True if rule.baselined else None, message=visible(said), trace=visible("\n\n".join(trace))
    )


def _of_a_check(folder: _Folder, check: CheckResult) -> TestStepResult:
    begun = min((shown.at_s for shown in check.exchanges), default=folder.zero_s)
    start = folder.moment_ms(begun - folder.zero_s)
    said = [("expected", check.expected), ("got", check.got), *check.observations.items()]
    return TestStepResult(
        name=one_line(f"{check.id}: {check.verdict.value}"),
        status=_STATUS[check.verdict],
        statusDetails=StatusDetails(message=visible(check.message)) if check.message else None,
        stage="finished",
        parameters=[
            Parameter(name=one_line(str(key)), value=visible(str(value))) for key, value in said if value
        ],
        steps=[_of_an_exchange(folder, check, number, shown) for number, shown in enumerate(check.exchanges)],
        start=start,
        stop=start + round(check.duration_s * 1000),
    )


def _of_an_exchange(folder: _Folder, check: CheckResult, number: int, shown: Shown) -> TestStepResult:
    """One exchange as a step; the text is attached for checks that failed or ended in an error.

    In such a check one exchange is marked as the cause: the named one, else the last.
    """
    broke = check.verdict in {Verdict.FAILED, Verdict.ERROR}
    is_cause = number == (len(check.exchanges) - 1 if check.guilty is None else check.guilty)
    answered = f"{shown.status}" if shown.status is not None else one_line(shown.failure) or "no answer"
    start = folder.moment_ms(shown.at_s - folder.zero_s)
    text = "\n".join(
        [
            request_text(shown),
            "",
            "--- answer",
            answer_text(shown),
            "",
            "--- by hand",
            check.scenario or curl(shown, own_ca=has_own_ca(folder.result)),
        ]
    )
    return TestStepResult(
        name=one_line(f"{shown.step}: {shown.method} {shown.url} → {answered}"),
        status=Status.PASSED if broke and not is_cause else _STATUS[check.verdict],
        stage="finished",
        attachments=[folder.attach(f"{shown.step}.txt", text, check.id, str(number))] if broke else [],
        start=start,
        stop=start + round(shown.elapsed_s * 1000),
    )


def _description(rule: RuleResult) -> str:
    """The text of the rule, as HTML that both versions of Allure show."""
    why = f"Why it matters: {rule.why.strip()}" if rule.why.strip() else ""
    more = f"How it is checked: gateproof explain {rule.id}"
    return "".join(f"<p>{xml(text.strip())}</p>" for text in (rule.holds, why, more) if text.strip())


def _labels(
    result: RunResult, family: str, story: str, severity: Severity, tags: Iterable[str]
) -> list[Label]:
    named = [
        (LabelType.PARENT_SUITE, f"gateproof {result.role}"),
        (LabelType.SUITE, family),
        (LabelType.EPIC, result.role),
        (LabelType.FEATURE, story),
        (LabelType.SEVERITY, severity.value),
        (LabelType.FRAMEWORK, "gateproof"),
        *((LabelType.TAG, tag) for tag in tags),
    ]
    return [Label(name=name, value=value) for name, value in named]


def _environment(result: RunResult) -> bytes:
    """The environment as a Java properties file, in ASCII for all readers."""
    run, target = result.run, result.target
    spec: dict[str, Any] = run.get("spec") or {}
    facts = {
        "Verdict": verdict_words(result),
        "Complete": "yes" if run.get("complete", True) else f"no: {cut_short(result)}",
        "NotTested": str(len(of(result, Verdict.NOT_TESTABLE))),
        "Target": target_name(result),
        "Role": result.role,
        "BaseUrl": target.get("base_url", ""),
        "CoreUrl": target.get("core_url", ""),
        "Specification": f"{spec.get('identity', '')} {spec.get('version', '')}",
        "Harness": run.get("harness_version", ""),
        "Seed": run.get("seed", ""),
        "Record": f"sha256:{run['evidence_digest']}" if run.get("evidence_digest") else "",
    }
    lines = [
        f"{name}={_property(one_line(str(value)))}" for name, value in facts.items() if one_line(str(value))
    ]
    return ("\n".join(lines) + "\n").encode("ascii")


def _property(text: str) -> str:
    escaped = text.replace("\\", "\\\\")
    units = escaped.encode("utf-16-be")
    numbers = [int.from_bytes(units[place : place + 2], "big") for place in range(0, len(units), 2)]
    return "".join(chr(number) if 32 <= number < 127 else f"\\u{number:04x}" for number in numbers)
