"""gateproof.sarif: every failure as a SARIF 2.1.0 alert, located in the target file of the run."""

from __future__ import annotations

import hashlib
import shlex
from datetime import timedelta
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from gateproof.reports.escaping import json_bytes, one_line, visible
from gateproof.reports.families import family_of
from gateproof.reports.summary_texts import (
    by_hand,
    by_reason,
    caveats,
    decides,
    duration_s,
    identifier,
    of,
    started,
    target_name,
)
from gateproof.reports.verdicts import CheckResult, RuleResult, RunResult, RunVerdict, Verdict

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
# Without a target file an alert still needs an existing file.
_NO_TARGET_FILE = "report.json"


def render(result: RunResult) -> dict[str, bytes]:
    """The file and its content."""
    failed = of(result, Verdict.FAILED)
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [_run(result, failed)]}
    return {"gateproof.sarif": json_bytes(log)}


def _run(result: RunResult, failed: list[RuleResult]) -> dict[str, Any]:
    file = _target_file(result)
    return {
        "tool": {
            "driver": {
                "name": "gateproof",
                **_version(result),
                "rules": [_descriptor(result, rule) for rule in failed],
            }
        },
        "automationDetails": {
            "id": f"gateproof/{result.role}/",
            "guid": str(identifier(result, "sarif")),
            "description": {"text": _message(f"{target_name(result)}: {result.reason}")},
        },
        "invocations": [_invocation(result)],
        "artifacts": [{"location": file, "roles": ["analysisTarget"]}],
        "results": [
            _alert(result, rule, check, index, file)
            for index, rule in enumerate(failed)
            for check in rule.checks
            if check.verdict is Verdict.FAILED
        ],
        "columnKind": "unicodeCodePoints",
        "properties": {
            "role": result.role,
            "verdict": result.verdict.value,
            "seed": result.run.get("seed"),
            "complete": bool(result.run.get("complete", True)),
            "evidence_digest": result.run.get("evidence_digest"),
        },
    }


def _version(result: RunResult) -> dict[str, str]:
    version = one_line(str(result.run.get("harness_version") or ""))
    return {"version": version} if version else {}


def _invocation(result: RunResult) -> dict[str, Any]:
    """Problems of the run itself, and rules that were not tested."""
    begun = started(result)
    ended = begun + timedelta(seconds=duration_s(result))
    said = [("warning", caveat) for caveat in caveats(result)]
    said += [
        ("warning", f"not tested: {', '.join(rule.id for rule in rules)}: {reason}")
        for reason, rules in by_reason(of(result, Verdict.NOT_TESTABLE)).items()
    ]
    said += [("error", f"{rule.id} ended in an error: {rule.reason}") for rule in of(result, Verdict.ERROR)]
    complete = bool(result.run.get("complete", True))
    return {
        "executionSuccessful": complete and result.verdict is not RunVerdict.NO_VERDICT,
        "exitCode": result.verdict.exit_code,
        "startTimeUtc": begun.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "endTimeUtc": ended.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z",
        "toolExecutionNotifications": [
            {"level": level, "message": {"text": _message(text)}} for level, text in said
        ],
    }


def _descriptor(result: RunResult, rule: RuleResult) -> dict[str, Any]:
    standing = f"Level {rule.level}. {rule.section}." + (f" {rule.standard}." if rule.standard else "")
    texts = [rule.title, rule.holds, rule.why, standing, f"More: gateproof explain {rule.id}"]
    help_text = "\n\n".join(_escaped(text.strip()) for text in texts if text.strip())
    return {
        "id": rule.id,
        "name": "".join(part.capitalize() for part in rule.id.split("-")),
        "shortDescription": {"text": _message(rule.title)},
        "fullDescription": {"text": _message(rule.holds or rule.title)},
        "help": {"text": help_text},
        "defaultConfiguration": {"level": _level(result, rule)},
        "properties": {
            "level": rule.level,
            "section": rule.section,
            "standard": rule.standard,
            "tags": ["conformance", family_of(rule.id), rule.level],
        },
    }


# The keys of the target file that a family is about, the closest first.
_SUBJECTS = {
    "KEYS": ("core_url",),
    "CODE": ("core_url",),
    "CLAIM": ("projects.resources", "core_url"),
    "PROXY": ("projects.proxy_clients", "core_url"),
    "REDEEM": ("projects.resources", "base_url"),
    "VAULT": ("merchant", "base_url"),
    "META": ("metadata_url", "service_url"),
}


def _line(result: RunResult, rule: RuleResult) -> int:
    """The line of the target file that fits the rule best; else the first line."""
    lines = result.target.get("lines") or {}
    subjects = (*_SUBJECTS.get(family_of(rule.id), ()), "base_url", "service_url", "target")
    return next((lines[subject] for subject in subjects if subject in lines), 1)


def _alert(
    result: RunResult, rule: RuleResult, check: CheckResult, index: int, file: dict[str, str]
) -> dict[str, Any]:
    print_of = hashlib.sha256(f"{result.role}/{rule.id}/{check.id}".encode()).hexdigest()
    alert: dict[str, Any] = {
        "ruleId": rule.id,
        "ruleIndex": index,
        "kind": "fail",
        "level": _level(result, rule),
        "message": {"text": _message(f"{rule.title}. {check.message}")},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": file, "region": {"startLine": _line(result, rule)}},
                "logicalLocations": [{"fullyQualifiedName": visible(check.id), "kind": "function"}],
            }
        ],
        "partialFingerprints": {"gateproofRuleAndCheck/v1": print_of},
        "guid": str(identifier(result, "sarif", rule.id, check.id)),
        "properties": {
            "check": check.id,
            "expected": visible(check.expected),
            "got": visible(check.got),
            "byHand": visible(by_hand(result, rule, check)),
            "decides": decides(result, rule),
        },
    }
    if rule.baselined:
        alert["suppressions"] = [{"kind": "external", "justification": one_line(rule.baselined)}]
    return alert


def _level(result: RunResult, rule: RuleResult) -> str:
    return "error" if decides(result, rule) else "warning"


def _target_file(result: RunResult) -> dict[str, str]:
    """The target file as the command names it; only its name if it is outside of the current folder."""
    try:
        words = shlex.split(str(result.run.get("command") or ""))
    except ValueError:
        words = []
    named = next((after for word, after in pairwise(words) if word == "--target"), "")
    path = PurePosixPath(one_line(named).replace("\\", "/"))
    outside = path.is_absolute() or {"..", "~"} & set(path.parts) or ":" in str(path)
    uri = quote(path.name if outside else str(path)) if path.name else _NO_TARGET_FILE
    return {"uri": uri}


def _message(text: str) -> str:
    return _escaped(one_line(text))


def _escaped(text: str) -> str:
    """The text as a SARIF message: braces would be placeholders, brackets with parentheses links."""
    return visible(text).replace("{", "{{").replace("}", "}}").replace("](", "] (")
