"""oscal-assessment-results.json: the results for an auditor's tools (OSCAL 1.2.1).

An OSCAL objective is satisfied or not satisfied. A passed or failed rule gets a finding with one of these; a
rule that was not tested, or is never judged, is an observation only.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from gateproof.reports.escaping import code, json_bytes, one_line, prose
from gateproof.reports.families import family_of
from gateproof.reports.summary_texts import (
    caveats,
    decides,
    duration_s,
    identifier,
    started,
    target_name,
    verdict_words,
)
from gateproof.reports.verdicts import CheckResult, RuleResult, RunResult, Verdict

_NAMESPACE = "urn:gateproof:oscal"
_STATES = {Verdict.PASSED: "satisfied", Verdict.FAILED: "not-satisfied"}


def render(result: RunResult) -> dict[str, bytes]:
    """The file and its content."""
    begun = started(result)
    title = f"gateproof: {target_name(result)}: {verdict_words(result)}"
    document = {
        "uuid": str(identifier(result, "oscal")),
        "metadata": {
            "title": prose(title),
            "last-modified": begun.isoformat(),
            "version": str(identifier(result)),
            "oscal-version": "1.2.1",
            "remarks": _paragraphs(result.reason, *caveats(result)),
        },
        "import-ap": {"href": f"#{identifier(result, 'oscal', 'plan')}"},
        "results": [_results(result, prose(title))],
        "back-matter": {"resources": [_plan(result), _record(result)]},
    }
    return {"oscal-assessment-results.json": json_bytes({"assessment-results": document})}


def _results(result: RunResult, title: str) -> dict[str, Any]:
    begun = started(result)
    found: dict[str, Any] = {
        "uuid": str(identifier(result, "oscal", "result")),
        "title": title,
        "description": _paragraphs(*caveats(result), f"Verdict: {result.reason}"),
        "start": begun.isoformat(),
        "end": (begun + timedelta(seconds=duration_s(result))).isoformat(),
        "props": _props(
            verdict=result.verdict.value,
            role=result.role,
            complete="yes" if result.run.get("complete", True) else "no",
            seed=str(result.run.get("seed", "")),
            strict="yes" if result.run.get("strict") else "no",
        ),
        "reviewed-controls": {"control-selections": [_selection(result)]},
    }
    if result.rules:
        found["observations"] = [_observation(result, rule) for rule in result.rules]
    if findings := [_finding(result, rule) for rule in result.rules if rule.verdict in _STATES]:
        found["findings"] = findings
    return found


def _selection(result: RunResult) -> dict[str, Any]:
    """The rules to be assessed; the findings show which were tested."""
    if not result.rules:
        return {"description": "The run did not reach any rule.", "include-all": {}}
    return {
        "description": "The rules of the run. One without a finding was not tested, or is never judged.",
        "include-controls": [{"control-id": rule.id} for rule in result.rules],
    }


def _finding(result: RunResult, rule: RuleResult) -> dict[str, Any]:
    return {
        "uuid": str(identifier(result, "oscal", "finding", rule.id)),
        "title": prose(f"{rule.id} {rule.title}"),
        "description": _paragraphs(rule.holds or rule.title, rule.reason),
        "props": _props(level=rule.level, decides="yes" if decides(result, rule) else "no"),
        "target": {
            "type": "objective-id",
            "target-id": rule.id,
            "status": {
                "state": _STATES[rule.verdict],
                "reason": "pass" if rule.verdict is Verdict.PASSED else "fail",
            },
        },
        "related-observations": [{"observation-uuid": str(identifier(result, "oscal", "rule", rule.id))}],
    }


def _observation(result: RunResult, rule: RuleResult) -> dict[str, Any]:
    observation: dict[str, Any] = {
        "uuid": str(identifier(result, "oscal", "rule", rule.id)),
        "title": prose(f"{rule.id} {rule.title}: {rule.verdict.value}"),
        "description": _paragraphs(_rule_text(rule)),
        "props": _props(
            verdict=rule.verdict.value,
            level=rule.level,
            family=family_of(rule.id),
            section=rule.section,
            standard=rule.standard,
            baselined=rule.baselined,
        ),
        "methods": ["TEST"],
        "collected": started(result).isoformat(),
    }
    if rule.checks:
        observation["relevant-evidence"] = [
            _evidence(result, check, with_link=bool(result.run.get("evidence_digest")))
            for check in rule.checks
        ]
    return observation


def _rule_text(rule: RuleResult) -> str:
    if rule.reason:
        return rule.reason
    return "Every check held." if rule.verdict is Verdict.PASSED else f"The rule is {rule.verdict.value}."


def _evidence(result: RunResult, check: CheckResult, *, with_link: bool) -> dict[str, Any]:
    link = {"href": f"#{identifier(result, 'oscal', 'record')}"} if with_link else {}
    said = [f"{prose(check.id)}: {check.verdict.value}"]
    if check.expected:
        said.append(f"expected {code(check.expected)}, got {code(check.got)}")
    elif check.message:
        said.append(code(check.message))
    seen = [f"{prose(str(key))}: {code(str(value))}" for key, value in check.observations.items()]
    return {**link, "description": "\n\n".join([*said, *seen]), "props": _props(check=check.id)}


def _plan(result: RunResult) -> dict[str, Any]:
    """The assessment plan: the rules, identified by the digest of their catalogue."""
    spec = result.run.get("spec") or {}
    text = f"{spec.get('identity', '')} {spec.get('version', '')}"
    return {
        "uuid": str(identifier(result, "oscal", "plan")),
        "title": "The rules of gateproof",
        "description": _paragraphs("The rules that a run of this role checks.", text),
        "props": _props(
            catalogue_digest=str(result.run.get("catalogue_digest") or ""),
            spec_digest=str(spec.get("digest") or ""),
            harness_version=str(result.run.get("harness_version") or ""),
        )
        or _props(role=result.role),
    }


def _record(result: RunResult) -> dict[str, Any]:
    """The sealed record from which all of this is generated."""
    link: dict[str, Any] = {"href": "evidence.jsonl", "media-type": "application/jsonl"}
    if digest := one_line(str(result.run.get("evidence_digest") or "")):
        link["hashes"] = [{"algorithm": "SHA-256", "value": digest}]
    return {
        "uuid": str(identifier(result, "oscal", "record")),
        "title": "The record of the run",
        "rlinks": [link],
    }


def _props(**values: str) -> list[dict[str, str]]:
    """Properties in our namespace; empty ones are not allowed."""
    return [
        {"name": name.replace("_", "-"), "ns": _NAMESPACE, "value": one_line(value)}
        for name, value in values.items()
        if one_line(value)
    ]


def _paragraphs(*texts: str) -> str:
    return "\n\n".join(prose(text) for text in texts if one_line(text))
