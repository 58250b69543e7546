"""Compares two runs of the same rules: regressions, fixes, and rules that are no longer tested."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from gateproof.reports.verdicts import RuleResult, RunResult, Verdict

SCHEMA = "gateproof/diff/1"
_UNTESTED = {Verdict.NOT_TESTABLE, Verdict.ERROR}


class Incomparable(ValueError):
    """The two runs have different roles or specifications; the text says what differs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One rule with a different verdict; an empty verdict means that the run did not have the rule."""

    rule: str
    level: str
    title: str
    before: str
    after: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Diff:
    """The changes from one run to another. Every changed rule is in exactly one list."""

    before: str
    after: str
    regressed: tuple[Change, ...]
    fixed: tuple[Change, ...]
    new: tuple[Change, ...]
    gone: tuple[Change, ...]
    became_untested: tuple[Change, ...]
    became_tested: tuple[Change, ...]
    otherwise: tuple[Change, ...]
    remarks: tuple[str, ...]

    @property
    def worse(self) -> bool:
        """True if a rule fails that did not fail before, or is no longer tested."""
        failing = [change for change in self.new if change.after == Verdict.FAILED]
        return bool(self.regressed or self.became_untested or self.gone or failing)


_NAMES = {
    "regressed": "regressed: fails now",
    "became_untested": "became untested: nothing is known of it any more",
    "gone": "gone: not in the second run",
    "fixed": "fixed: failed before",
    "became_tested": "became tested",
    "new": "new: not in the first run",
    "otherwise": "otherwise changed",
}


def diff(before: RunResult, after: RunResult, *, anyway: bool = False) -> Diff:
    """The changes between two runs; with `anyway` also between different roles or specifications."""
    reasons = list(_differences(before, after))
    if reasons and not anyway:
        raise Incomparable(f"{'; '.join(reasons)}: these runs cannot be compared")
    old, new = ({rule.id: rule for rule in result.rules} for result in (before, after))
    sorted_into: dict[str, list[Change]] = {name: [] for name in _NAMES}
    for rule_id in (*new, *(rule_id for rule_id in old if rule_id not in new)):
        name = _name(old.get(rule_id), new.get(rule_id))
        if name is not None:
            sorted_into[name].append(_change(old.get(rule_id), new.get(rule_id)))
    return Diff(
        before=_called(before),
        after=_called(after),
        remarks=(*reasons, *_remarks(before, after)),
        **{name: tuple(changes) for name, changes in sorted_into.items()},
    )


def to_text(found: Diff) -> str:
    """The changes as text, the worst first."""
    lines = [f"from {found.before}", f"to   {found.after}", *(f"note: {remark}" for remark in found.remarks)]
    for name, said in _NAMES.items():
        changes: tuple[Change, ...] = getattr(found, name)
        if not changes:
            continue
        lines += ["", f"{said} ({len(changes)})"]
        for change in changes:
            lines.append(f"  {change.rule} [{change.level}] {change.title}")
            why = f": {change.reason}" if change.reason else ""
            lines.append(f"    {change.before or 'absent'} -> {change.after or 'absent'}{why}")
    if not any(getattr(found, name) for name in _NAMES):
        lines += ["", "no rule changed its verdict"]
    return "\n".join(lines) + "\n"


def to_json(found: Diff) -> str:
    """The changes as JSON."""
    values = {"schema": SCHEMA, "worse": found.worse, **asdict(found)}
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"


def _differences(before: RunResult, after: RunResult) -> Iterable[str]:
    """The differences that make two runs incomparable."""
    if before.role != after.role:
        yield f"the roles are {before.role} and {after.role}"
    one, other = (result.run["spec"] for result in (before, after))
    if one["digest"] != other["digest"]:
        yield f"the specs are {one['identity']} {one['version']} and {other['identity']} {other['version']}"


def _remarks(before: RunResult, after: RunResult) -> Iterable[str]:
    """Notes on differences that may explain the changes."""
    for result, which in ((before, "first"), (after, "second")):
        if not result.run["complete"]:
            yield f"the {which} run is incomplete"
    if before.run["catalogue_digest"] != after.run["catalogue_digest"]:
        yield "the runs had different versions of the rules, which may be the cause of a change"
    if before.run["selection"] != after.run["selection"]:
        yield "the runs selected their rules differently"
    if before.run.get("deviate") != after.run.get("deviate"):
        yield "the gateway around the agent left the specification in different ways"
    if before.run.get("trace") != after.run.get("trace"):
        yield "the requests of one run named their checks (--trace)"
    said = {"faults", "examples"} & before.run.keys() & after.run.keys()
    if any(before.run[name] != after.run[name] for name in said):
        yield "one run left faults out, or generated more examples"


def _name(old: RuleResult | None, new: RuleResult | None) -> str | None:
    """The list for a rule; None if its verdict has not changed."""
    if old is None or new is None:
        return "gone" if new is None else "new"
    if old.verdict is new.verdict:
        return None
    if new.verdict is Verdict.FAILED:
        return "regressed"
    if new.verdict in _UNTESTED and old.verdict not in _UNTESTED:
        return "became_untested"
    if old.verdict is Verdict.FAILED:
        return "fixed"
    if old.verdict in _UNTESTED and new.verdict not in _UNTESTED:
        return "became_tested"
    return "otherwise"


def _change(old: RuleResult | None, new: RuleResult | None) -> Change:
    rule = new or old
    if rule is None:
        raise ValueError("a change has a rule on one side at least")
    return Change(
        rule=rule.id,
        level=rule.level,
        title=rule.title,
        before=old.verdict.value if old is not None else "",
        after=new.verdict.value if new is not None else "",
        reason=new.reason if new is not None else "",
    )


def _called(result: RunResult) -> str:
    name = f"{result.target.get('name', '')} {result.target.get('version', '')}".strip()
    return f"{name} ({result.verdict.value}, run {result.run['run_id']}, {result.run['started']})"
