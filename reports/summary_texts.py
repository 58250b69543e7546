"""Texts that all outputs share: the target, the verdict, and its caveats."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from uuid import NAMESPACE_URL, UUID, uuid5

from gateproof.reports.escaping import one_line, shortened
from gateproof.reports.exchanges import curl
from gateproof.reports.replay_files import selection, without_selection
from gateproof.reports.verdicts import (
    CheckResult,
    RuleResult,
    RunResult,
    RunVerdict,
    Verdict,
    deciding_levels,
    many,
)

# The default number of generated examples for each rule.
USUAL_EXAMPLES = 20
_WORDS = {
    RunVerdict.CONFORMANT: "conformant",
    RunVerdict.NOT_CONFORMANT: "not conformant",
    RunVerdict.INCOMPLETE: "incomplete",
    RunVerdict.NO_VERDICT: "no verdict",
}


def verdict_words(result: RunResult) -> str:
    """The verdict in words."""
    return _WORDS[result.verdict]


def target_name(result: RunResult) -> str:
    """Name and version of the target, on one line."""
    named = f"{result.target.get('name', '')} {result.target.get('version', '')}"
    return shortened(named, 100) or f"unnamed {result.role}"


def cut_short(result: RunResult) -> str:
    """Why the run did not finish; empty if it did."""
    if result.run.get("complete", True):
        return ""
    return one_line(str(result.run.get("cut_short") or result.reason)) or "no reason is known"


def has_own_ca(result: RunResult) -> bool:
    """True if a request to the target needs a CA file."""
    return bool(result.target.get("own_ca"))


def is_partial(result: RunResult) -> bool:
    """True if only a part of the rules was selected; the verdict is then about that part."""
    return any((result.run.get("selection") or {}).values())


def tried(result: RunResult) -> dict[str, str]:
    """Whether faults were injected, and how many examples were generated; older records have neither."""
    faults, examples = result.run.get("faults"), result.run.get("examples")
    said = {}
    if faults is not None:
        said["Faults"] = "placed" if faults else "left out"
    if examples is not None:
        usual = "" if examples == USUAL_EXAMPLES else f", usual are {USUAL_EXAMPLES}"
        said["Examples"] = f"{examples} for each rule that has some{usual}" if examples else "none"
    return said


def again(result: RunResult, rule: RuleResult) -> str:
    """The command that repeats this rule's checks with the options of this run."""
    command = without_selection(str(result.run.get("command") or f"gateproof run {result.role}"))
    seed = result.run.get("seed")
    if seed is not None and "--seed" not in command:
        command += f" --seed {seed}"
    return f"{command}{selection(rule)}"


def by_hand(result: RunResult, rule: RuleResult, check: CheckResult) -> str:
    """How to repeat a failure: the request as a command, or the scenario for a launched target."""
    if check.scenario:
        return f"{again(result, rule)}  # launches it again: {one_line(check.scenario)}"
    meant = check.decisive
    return "" if meant is None else curl(check.exchanges[meant], own_ca=has_own_ca(result))


def caveats(result: RunResult) -> list[str]:
    """Sentences that limit what the verdict says, the most important first."""
    found = []
    if why := cut_short(result):
        found.append(f"The run did not finish: {why}. What it did not reach was not tested.")
    if untested := of(result, Verdict.NOT_TESTABLE):
        found.append(
            f"{many(len(untested), 'rule')} could not be tested and did not pass: {_listed(untested)}."
        )
    if selected := _selection(result):
        found.append(f"Only a part of the rules was selected: {selected}.")
    if less := _less_than_usual(result):
        found.append(f"Less was tried than is usual: {less}.")
    if findings := [rule for rule in of(result, Verdict.FAILED) if not decides(result, rule)]:
        found.append(f"{many(len(findings), 'rule')} failed without deciding: {_listed(findings)}.")
    return found


def of(result: RunResult, verdict: Verdict) -> list[RuleResult]:
    """The rules with this verdict, in the order of the catalogue."""
    return [rule for rule in result.rules if rule.verdict is verdict]


def decides(result: RunResult, rule: RuleResult) -> bool:
    """Whether this rule decides the verdict of the run."""
    return not rule.baselined and rule.level in deciding_levels(strict=bool(result.run.get("strict")))


def by_reason(rules: Iterable[RuleResult]) -> dict[str, list[RuleResult]]:
    """The rules grouped by reason."""
    found: dict[str, list[RuleResult]] = {}
    for rule in rules:
        found.setdefault(one_line(rule.reason) or "no reason was given", []).append(rule)
    return found


def started(result: RunResult) -> datetime:
    """When the run started; the epoch if unknown, so that equal results give equal bytes."""
    try:
        moment = datetime.fromisoformat(str(result.run.get("started")))
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def duration_s(result: RunResult) -> float:
    """The duration of the run."""
    return max(0.0, float(result.run.get("duration_s") or 0.0))


def identifier(result: RunResult, *parts: str) -> UUID:
    """A reproducible identifier for a part of this run."""
    known = result.run.get("run_id") or f"{result.run.get('started')}/{result.run.get('seed')}"
    return uuid5(uuid5(NAMESPACE_URL, f"urn:gateproof:run:{known}"), "/".join(parts))


def _selection(result: RunResult) -> str:
    selection = result.run.get("selection") or {}
    words = [f"--{name} {glob}" for name in ("only", "skip") for glob in selection.get(name) or ()]
    if selection.get("shard"):
        words.append(f"--shard {selection['shard']}")
    return one_line(" ".join(words))


def _less_than_usual(result: RunResult) -> str:
    faults, examples = result.run.get("faults"), result.run.get("examples")
    words = [] if faults is not False else ["no faults"]
    if examples is not None and examples < USUAL_EXAMPLES:
        words.append(f"{examples} examples in place of {USUAL_EXAMPLES}" if examples else "no examples")
    return ", ".join(words)


def _listed(rules: list[RuleResult], most: int = 6) -> str:
    more = f" and {len(rules) - most} more" if len(rules) > most else ""
    return ", ".join(rule.id for rule in rules[:most]) + more
