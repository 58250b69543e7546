"""summary.md: the run as a page of Markdown, for a job summary or a comment."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from gateproof.reports.escaping import cell, code, prose
from gateproof.reports.families import FAMILIES, family_of
from gateproof.reports.fault_matrix import OUTCOMES, FaultRow, fault_rows, faults_in_a_line
from gateproof.reports.summary_texts import (
    by_reason,
    caveats,
    decides,
    is_partial,
    of,
    target_name,
    tried,
    verdict_words,
)
from gateproof.reports.verdicts import RuleResult, RunResult, RunVerdict, Verdict, many

# The limit of CI systems for one step.
MOST_BYTES = 1024 * 1024
_SHOWN_FAILURES = 25
_SIGNS = {
    RunVerdict.CONFORMANT: "✅",
    RunVerdict.NOT_CONFORMANT: "❌",
    RunVerdict.INCOMPLETE: "⚠️",
    RunVerdict.NO_VERDICT: "⚠️",
}
_PART = "◐"
_CUT = "\n\n*The rest did not fit; it is in the report.*\n"


def render(result: RunResult) -> dict[str, bytes]:
    """The file and its content."""
    blocks = [
        f"## {_sign(result)} {prose(target_name(result))}: {verdict_words(result)}{_of_what(result)}",
        prose(result.reason),
        *(f"> **{prose(caveat)}**" for caveat in caveats(result)),
        _facts(result),
        *_untested(result),
        *_broken("Failed", [rule for rule in of(result, Verdict.FAILED) if decides(result, rule)]),
        *_broken("Ended in an error", of(result, Verdict.ERROR)),
        *_broken(
            "Failed without deciding",
            [rule for rule in of(result, Verdict.FAILED) if not decides(result, rule)],
        ),
        _families(result),
        *_faults(result),
    ]
    return {"summary.md": ("\n\n".join(block for block in blocks if block) + "\n").encode("utf-8")}


def append_job_summary(path: Path, text: str, *, most: int = MOST_BYTES) -> None:
    """Appends to a job summary as much as fits; CI systems refuse a summary over the limit entirely."""
    there = path.stat().st_size if path.exists() else 0
    content = text.encode("utf-8")
    room = most - there
    if len(content) > room:
        room -= len(_CUT.encode("utf-8"))
        if room <= 0:
            return
        whole_lines = content[:room].rpartition(b"\n")[0]
        content = whole_lines + _CUT.encode("utf-8")
    with path.open("ab") as summary:
        summary.write(content)


def _sign(result: RunResult) -> str:
    """A green tick only for the whole catalogue: a partial run may have left out rules that fail."""
    partly = result.verdict is RunVerdict.CONFORMANT and is_partial(result)
    return _PART if partly else _SIGNS[result.verdict]


def _of_what(result: RunResult) -> str:
    return " (a part of the rules)" if is_partial(result) else ""


def _facts(result: RunResult) -> str:
    run, target = result.run, result.target
    spec = run.get("spec") or {}
    known = {
        "Role": result.role,
        "Addresses": ", ".join(str(target[key]) for key in ("base_url", "core_url") if target.get(key)),
        "Specification": f"{spec.get('identity', '')} {spec.get('version', '')}".strip(),
        "Harness": f"gateproof {run.get('harness_version', '')}".strip(),
        "Seed": str(run.get("seed", "")),
        **tried(result),
        "Record": f"sha256:{run['evidence_digest']}" if run.get("evidence_digest") else "",
        "Again": str(run.get("command") or ""),
    }
    lines = ["| | |", "|---|---|"]
    lines += [f"| {name} | {cell(code(value))} |" for name, value in known.items() if value]
    return "\n".join(lines)


def _untested(result: RunResult) -> list[str]:
    found = []
    for verdict, heading in (
        (Verdict.NOT_TESTABLE, "Not tested"),
        (Verdict.NOT_APPLICABLE, "Not applicable"),
    ):
        rules = of(result, verdict)
        if rules:
            lines = [
                f"- {', '.join(rule.id for rule in together)}: {prose(reason)}"
                for reason, together in by_reason(rules).items()
            ]
            found += [f"### {heading} ({len(rules)})", "\n".join(lines)]
    return found


def _broken(heading: str, rules: list[RuleResult]) -> list[str]:
    if not rules:
        return []
    blocks = [f"### {heading} ({len(rules)})"]
    blocks += [_rule(rule) for rule in rules[:_SHOWN_FAILURES]]
    if left := rules[_SHOWN_FAILURES:]:
        blocks.append(f"And {', '.join(rule.id for rule in left)}.")
    return blocks


def _rule(rule: RuleResult) -> str:
    lines = [f"- **{rule.id}** {prose(rule.title)} ({rule.level}; {prose(rule.section)})"]
    if rule.baselined:
        lines.append(f"  - accepted by the baseline ({many(rule.failing, 'check')}): {prose(rule.baselined)}")
    lines += [
        f"  - {prose(check.id)}: {code(check.message)}"
        for check in rule.checks
        if check.verdict in {Verdict.FAILED, Verdict.ERROR}
    ]
    return "\n".join(lines)


def _families(result: RunResult) -> str:
    counted: dict[str, Counter[Verdict]] = {}
    for rule in result.rules:
        counted.setdefault(family_of(rule.id), Counter())[rule.verdict] += 1
    order = (
        Verdict.NOT_TESTABLE,
        Verdict.FAILED,
        Verdict.ERROR,
        Verdict.PASSED,
        Verdict.OBSERVED,
        Verdict.NOT_APPLICABLE,
    )
    lines = [
        f"| family | {' | '.join(verdict.value for verdict in order)} |",
        f"|---|{'---:|' * len(order)}",
    ]
    for family, counts in counted.items():
        name = f"{family} {FAMILIES.get(family, '')}".strip()
        lines.append(f"| {prose(name)} | {' | '.join(str(counts[verdict] or '') for verdict in order)} |")
    total = " | ".join(str(result.counts[verdict.value]) for verdict in order)
    return "\n".join([*lines, f"| all {len(result.rules)} | {total} |"])


def _faults(result: RunResult) -> list[str]:
    """The faults by hop and layer; report.html lists them one by one."""
    groups: dict[tuple[str, str], list[FaultRow]] = {}
    for row in fault_rows(result):
        groups.setdefault((row.hop, row.layer), []).append(row)
    if not groups:
        return []
    lines = [
        f"| hop | layer | faults | fired | {' | '.join(outcome.value for outcome in OUTCOMES)} |",
        f"|---|---|---:|---:|{'---:|' * len(OUTCOMES)}",
    ]
    for (hop, layer), rows in groups.items():
        under = [sum(outcome in row.rules for row in rows) or "" for outcome in OUTCOMES]
        figures = [len(rows), sum(row.fired for row in rows), *under]
        lines.append(f"| {prose(hop)} | {prose(layer)} | {' | '.join(map(str, figures))} |")
    return [f"### {prose(faults_in_a_line(result).capitalize())}", "\n".join(lines)]
