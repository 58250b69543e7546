"""Results as JSON values, for transfer between processes and for report.json."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from gateproof.reports.chain import plain
from gateproof.reports.exchanges import answer_text, curl, request_text, shown_from_list, shown_to_list
from gateproof.reports.summary_texts import has_own_ca
from gateproof.reports.verdicts import CheckResult, Reason, RuleResult, RunResult, Verdict

SCHEMA = "gateproof/report/1"
_SURROGATE = "\\ud"
_FIELDS = tuple(field.name for field in fields(CheckResult))


def check_result_to_json(result: CheckResult) -> str:
    """The result of a check as JSON; characters that UTF-8 cannot represent are replaced.

    What carries it from a worker would take five times as long for the values as for one text.
    """
    told = {
        **{name: getattr(result, name) for name in _FIELDS},
        "observations": plain(dict(result.observations)),
        "waited_s": dict(result.waited_s),
        "faults": plain([dict(fault) for fault in result.faults]),
        "replay": plain(result.replay),
        "exchanges": [shown_to_list(shown) for shown in result.exchanges],
    }
    text = json.dumps(told)
    # Most results have no such character, and this is how one is escaped.
    return json.dumps(plain(told)) if _SURROGATE in text else text


def check_result_from_json(text: str) -> CheckResult:
    values = json.loads(text)
    return CheckResult(
        **{
            **values,
            "verdict": Verdict(values["verdict"]),
            "reason": Reason(values["reason"]),
            "public": tuple(values["public"]),
            "faults": tuple(values["faults"]),
            "exchanges": tuple(map(shown_from_list, values["exchanges"])),
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
