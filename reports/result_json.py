"""Results as JSON values, for transfer between processes and for report.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from gateproof.reports.chain import plain
from gateproof.reports.exchanges import answer_text, curl, request_text, shown_from_dict, shown_to_dict
from gateproof.reports.summary_texts import has_own_ca
from gateproof.reports.verdicts import CheckResult, Reason, RuleResult, RunResult, Verdict

SCHEMA = "gateproof/report/1"
_FIELDS = tuple(field.name for field in fields(CheckResult))


def check_result_to_dict(result: CheckResult) -> dict[str, Any]:
    """The result of a check as JSON values; characters that UTF-8 cannot represent are replaced."""
    told: dict[str, Any] = plain(
        {
            **{name: getattr(result, name) for name in _FIELDS},
            "verdict": result.verdict.value,
            "reason": result.reason.value,
            "observations": dict(result.observations),
            "waited_s": dict(result.waited_s),
            "faults": [dict(fault) for fault in result.faults],
            "exchanges": [shown_to_dict(shown) for shown in result.exchanges],
        }
    )
    return told


def check_result_from_dict(values: Mapping[str, Any]) -> CheckResult:
    return CheckResult(
        **{
            **values,
            "verdict": Verdict(values["verdict"]),
            "reason": Reason(values["reason"]),
            "public": tuple(values["public"]),
            "faults": tuple(values["faults"]),
            "exchanges": tuple(map(shown_from_dict, values["exchanges"])),
        }
    )


def report(result: RunResult) -> dict[str, Any]:
    """The whole run, as in report.json."""
    return {
        "schema": SCHEMA,
        "role": result.role,
        "verdict": result.verdict.value,
        "reason": result.reason,
        "counts": result.counts,
        "rules": [_rule(rule, own_ca=has_own_ca(result)) for rule in result.rules],
        "target": dict(result.target),
        "run": dict(result.run),
    }


def _rule(rule: RuleResult, *, own_ca: bool) -> dict[str, Any]:
    return {
        "id": rule.id,
        "level": rule.level,
        "title": rule.title,
        "section": rule.section,
        "verdict": rule.verdict.value,
        "reason": rule.reason,
        "checks": [_check(check, own_ca=own_ca) for check in rule.checks],
        **({"baselined": rule.baselined} if rule.baselined else {}),
    }


def _check(check: CheckResult, *, own_ca: bool) -> dict[str, Any]:
    """A check without empty members."""
    kept = {
        "id": check.id,
        "verdict": check.verdict.value,
        "message": check.message,
        "duration_s": check.duration_s,
    }
    exchanges = [
        {
            "step": shown.step,
            "request": request_text(shown),
            "answer": answer_text(shown),
            "curl": curl(shown, own_ca=own_ca),
        }
        # Only for failures; the exchanges of other checks are in the record.
        for shown in check.exchanges
        if check.verdict in {Verdict.FAILED, Verdict.ERROR}
    ]
    optional = {
        "expected": check.expected,
        "got": check.got,
        "waited_s": dict(check.waited_s),
        "observations": dict(check.observations),
        "faults": [dict(fault) for fault in check.faults],
        "replay": dict(check.replay) if check.replay else None,
        "exchanges": exchanges,
        "scenario": check.scenario,
    }
    return kept | {name: value for name, value in optional.items() if value}
