"""Computes the verdicts of a run from its plan and the results of its checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from gateproof.reports import baseline
from gateproof.reports.header import Header, Planned
from gateproof.reports.verdicts import (
    CheckResult,
    Reason,
    RuleResult,
    RunVerdict,
    Verdict,
    rule_verdict,
    run_verdict,
)

INTERRUPTED = "the run was killed or crashed: its record has no footer"
# The start of the reason if a signal stopped the run; the name of the signal follows.
STOPPED_BY = "the run was stopped by"


@dataclass(frozen=True, kw_only=True, slots=True)
class Footer:
    """The last line of a record; `cut_short` says why not every check ran."""

    counts: dict[str, int]
    planned: int
    executed: int
    verdict: RunVerdict
    reason: str
    duration_s: float
    cut_short: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdicts:
    """The rules with their verdicts, and the verdict of the run."""

    rules: tuple[RuleResult, ...]
    verdict: RunVerdict
    reason: str


def verdicts_of(header: Header, checks: Iterable[CheckResult], cut_short: str) -> Verdicts:
    """The verdicts of all planned rules, in order, and of the run."""
    found: dict[str, list[CheckResult]] = {}
    for check in checks:
        found.setdefault(check.rule, []).append(check)
    options = header.options
    judged = [*header.planned, *(rule for rule in header.step_owners if rule.id in found)]
    ruled = [
        _ruled(planned, found.get(planned.id, []), cut_short)
        for planned in sorted(judged, key=lambda rule: rule.place)
    ]
    rules, faults = baseline.apply(ruled, options.baseline, date.fromisoformat(header.started[:10]))
    verdict, reason = run_verdict(
        rules,
        strict=options.strict,
        certify=options.certify,
        cut_short=cut_short,
        baseline_faults=faults,
    )
    if options.deviate:
        ways = " and ".join(f"--deviate {name}" for name in options.deviate)
        why = f"; {cut_short}" if cut_short else ""
        verdict, reason = RunVerdict.NO_VERDICT, f"a diagnosis with {ways}, which decides nothing{why}"
    return Verdicts(rules=rules, verdict=verdict, reason=reason)


def footer_of(
    header: Header, checks: Sequence[CheckResult], *, duration_s: float, cut_short: str = ""
) -> Footer:
    """The footer for these checks."""
    judged = verdicts_of(header, checks, cut_short)
    counted = Counter(rule.verdict for rule in judged.rules)
    return Footer(
        counts={verdict.value: counted[verdict] for verdict in Verdict},
        planned=len(header.planned_checks()),
        executed=len({check.id for check in checks} & header.planned_checks()),
        verdict=judged.verdict,
        reason=judged.reason,
        duration_s=duration_s,
        cut_short=cut_short,
    )


def target_facts(header: Header) -> dict[str, Any]:
    """The target's values for the outputs; unknown values are left out, except name and version."""
    facts = asdict(header.target)
    return {key: value for key, value in facts.items() if value or key in {"name", "version"}}


def run_facts(
    header: Header, footer: Footer | None, digest: str, took_s: float, waited_s: Mapping[str, float]
) -> dict[str, Any]:
    """The run's values for the outputs."""
    options = header.options
    selection: dict[str, Any] = {"only": list(options.only), "skip": list(options.skip)}
    if options.shard:
        selection["shard"] = options.shard
    tried = {"faults": options.faults, "examples": options.examples}
    return {
        "run_id": header.run_id,
        "evidence_digest": digest,
        "spec": asdict(header.spec),
        "catalogue_digest": header.catalogue_digest,
        "harness_version": header.harness.version,
        "harness_commit": header.harness.commit,
        "harness_dirty": header.harness.dirty,
        "dependencies": header.dependencies,
        "python": header.python,
        "os": header.os,
        "profile": options.profile,
        "seed": options.seed,
        "selection": selection,
        "workers": options.workers,
        "strict": options.strict,
        "certify": options.certify,
        **{name: value for name, value in tried.items() if value is not None},
        **({"deviate": list(options.deviate)} if options.deviate else {}),
        **({"trace": True} if options.trace else {}),
        "baseline": [asdict(entry) for entry in options.baseline],
        "clock_skew_s": header.clock_skew_s,
        "started": header.started,
        "command": header.command,
        "parts": [asdict(part) for part in header.parts],
        "proof": asdict(header.proof) if header.proof is not None else None,
        "duration_s": footer.duration_s if footer is not None else took_s,
        "waited_s": dict(waited_s),
        "cut_short": footer.cut_short if footer is not None else INTERRUPTED,
        "complete": footer is not None and not footer.cut_short,
    }


def _ruled(planned: Planned, found: Sequence[CheckResult], cut_short: str) -> RuleResult:
    """The result of a rule; checks that did not run are included as not testable."""
    done = {check.id for check in found}
    why = cut_short.partition(";")[0].partition("\n")[0] or "the check did not run"
    missing = [
        CheckResult(
            id=check_id,
            rule=planned.id,
            verdict=Verdict.NOT_TESTABLE,
            reason=Reason.NOT_RUN,
            message=f"not run: {why}",
        )
        for check_id in planned.checks
        if check_id not in done
    ]
    # In the order of the plan, not in the order in which workers finished.
    place = {check_id: number for number, check_id in enumerate(planned.checks)}
    checks = sorted([*found, *missing], key=lambda check: place.get(check.id, len(place)))
    verdict, reason = rule_verdict(planned.level, checks)
    return RuleResult(
        id=planned.id,
        level=planned.level,
        title=planned.title,
        section=planned.section,
        holds=planned.holds,
        why=planned.why,
        standard=planned.standard,
        verdict=verdict,
        reason=reason,
        checks=tuple(checks),
    )
