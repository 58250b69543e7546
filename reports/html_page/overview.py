"""The top of the page: verdict, target, harness, what was not tested, and the first failure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gateproof.reports.durations import waited_in_words
from gateproof.reports.html_page.exchange import Detail
from gateproof.reports.html_page.labels import BASELINED, ERROR, FAILED, FINDING, badge, kind_of, outcome_of
from gateproof.reports.html_page.markup import block, counted, cut, facts, foreign, link, text
from gateproof.reports.summary_texts import cut_short, decides, target_name, tried
from gateproof.reports.verdicts import CheckResult, RuleResult, RunResult, RunVerdict, Verdict, many

_ROLES = {"gateway": "a gateway", "service": "an operator's service", "agent": "an agent"}
_REASONS_IN_SIGHT = 5
_RULES_IN_SIGHT = 40


def title(result: RunResult) -> str:
    return f"{outcome_of(result).word}: {cut(target_name(result), 200)}"


def verdict(result: RunResult, detail: Detail) -> str:
    """The verdict as sign, word and sentence, after a warning if the run did not finish."""
    outcome = outcome_of(result)
    said = outcome.sentence.format(
        name=foreign(cut(target_name(result), 200)), role=text(_ROLES.get(result.role, result.role))
    )
    return (
        f'{_unfinished(result)}<div class="verdict {outcome.tone}"><h1><span class=sign aria-hidden=true>'
        f"{outcome.sign}</span> {outcome.word}</h1>"
        f"<p>{said}: {foreign(cut(result.reason, detail.text))}.</p></div>"
    )


def _unfinished(result: RunResult) -> str:
    why = cut_short(result)
    if not why:
        return ""
    return (
        '<p class="banner"><b><span aria-hidden=true>!</span> This run did not finish:</b> '
        f"{foreign(cut(why, 300))}. The page shows what was found until then; a rule that the run did not "
        "reach counts as not tested.</p>"
    )


def about(result: RunResult) -> str:
    """Target, specification, harness, and how to verify this page against the record."""
    rows = [
        *_target(result.target),
        *_spec(result.run),
        *_harness(result.run),
        *((what, text(said)) for what, said in tried(result).items()),
        _seal(result.run),
    ]
    return f"<section aria-labelledby=run><h2 id=run>This run</h2>{facts(rows)}{_identity(result)}</section>"


def _target(target: Mapping[str, Any]) -> list[tuple[str, str]]:
    name = " ".join(foreign(cut(str(target[key]), 200)) for key in ("name", "version") if target.get(key))
    addresses = (
        f"<code>{foreign(cut(str(value), 300))}</code>"
        for key, value in target.items()
        if key.endswith("_url") and value
    )
    return [("Target", "<br>".join([name, *addresses]))]


def _spec(run: Mapping[str, Any]) -> list[tuple[str, str]]:
    spec = run.get("spec") or {}
    return [("Specification", " ".join(text(spec[key]) for key in ("identity", "version") if spec.get(key)))]


def _harness(run: Mapping[str, Any]) -> list[tuple[str, str]]:
    version, commit, took = run.get("harness_version"), run.get("harness_commit"), run.get("duration_s")
    changed = ", changed" if run.get("harness_dirty") else ""
    named = f"gateproof {version}" + (f" ({commit[:12]}{changed})" if commit else "")
    duration = f", <span class=took>{took:.1f}\u00a0s</span>" if isinstance(took, int | float) else ""
    workers = many(run["workers"], "worker") if run.get("workers") else ""
    waited = waited_in_words(run)
    chosen = [f"{name} {_several(value)}" for name, value in (run.get("selection") or {}).items() if value]
    modes = [name for name in ("strict", "certify") if run.get(name)]
    return [
        ("Harness", text(named) if version else ""),
        ("Started", f"<time>{text(run['started'])}</time>{duration}" if run.get("started") else ""),
        ("Workers", text(f"{workers}; all checks {waited}" if workers and waited else workers)),
        ("Seed", f"<code>{text(run['seed'])}</code>" if run.get("seed") is not None else ""),
        ("Mode", text(", ".join(modes))),
        ("Only a part", text("; ".join(chosen))),
    ]


def _identity(result: RunResult) -> str:
    """Digests and versions for auditors, folded because the list is long."""
    run, target = result.run, result.target
    known = (
        ("Run", run.get("run_id")),
        ("Text of the specification", (run.get("spec") or {}).get("digest")),
        ("Catalogue of rules", run.get("catalogue_digest")),
        ("Proof of its checks", _proof(run.get("proof"))),
        ("Harness", run.get("harness_commit")),
        ("Dependencies", run.get("dependencies")),
        ("Key of the target", target.get("tls_key_digest")),
        ("Its discovery document", target.get("discovery_digest")),
        ("Its configuration", target.get("configuration_digest")),
        ("Python", run.get("python")),
        ("System", run.get("os")),
        ("Merged from", "\n".join(_several(list(part.values())) for part in run.get("parts") or ())),
    )
    rows = [(what, f"<code>{foreign(cut(str(value), 2000))}</code>") for what, value in known if value]
    return f"<details><summary>Digests and environment</summary>{facts(rows)}</details>" if rows else ""


def _proof(proof: Mapping[str, Any] | None) -> str:
    """The digest and figures of the proof that is part of gateproof."""
    if not proof:
        return ""
    figures = (f"{name.replace('_', ' ')} {number}" for name, number in proof["figures"].items())
    return f"{proof['digest']} ({', '.join(figures)})"


def _several(value: object) -> str:
    return (
        value if isinstance(value, str) else " ".join(map(str, value)) if isinstance(value, Sequence) else ""
    )


def _seal(run: Mapping[str, Any]) -> tuple[str, str]:
    digest = run.get("evidence_digest")
    sealed = (
        f"sha256 of <code>evidence.jsonl</code>: <code class=digest>{text(digest)}</code>"
        if digest
        else "There is no sealed record for this page."
    )
    how = (
        f"{block('gateproof verify .', 'command')}<small>in the folder of this file shows whether anything "
        "was changed. Add <code>--key PUBLIC_KEY</code> to verify who sealed it.</small>"
    )
    return "Seal", sealed + how


def untested(result: RunResult, detail: Detail) -> str:
    """How many rules were not tested, and why."""
    missing = [rule for rule in result.rules if rule.verdict in {Verdict.NOT_TESTABLE, Verdict.ERROR}]
    weighty = sum(decides(result, rule) for rule in missing)
    parts = [_left_out(result), _selected(result)]
    if not missing:
        said = "Every rule of this run was tested." if result.rules else "This run has no rules."
        return _untested_section(f"<p>{said}</p>{''.join(parts)}")
    head = (
        f"<p><b>{len(missing)} of {counted(len(result.rules), 'rule')}</b> "
        f"{'was' if len(missing) == 1 else 'were'} not tested; {weighty or 'none'} would decide.</p>"
    )
    groups = [_group(reason, rules, result, detail) for reason, rules in by_reason(missing).items()]
    head += f"<ul class=reasons>{''.join(groups[:_REASONS_IN_SIGHT])}</ul>"
    if rest := groups[_REASONS_IN_SIGHT:]:
        head += (
            f"<details><summary>{counted(len(rest), 'further reason')}</summary>"
            f"<ul class=reasons>{''.join(rest)}</ul></details>"
        )
    return _untested_section(head + "".join(parts))


def _untested_section(inner: str) -> str:
    return f"<section aria-labelledby=untested><h2 id=untested>What was not tested</h2>{inner}</section>"


def by_reason(rules: Iterable[RuleResult]) -> dict[tuple[Verdict, str], list[RuleResult]]:
    """The rules grouped by reason, in order of first appearance."""
    groups: dict[tuple[Verdict, str], list[RuleResult]] = {}
    for rule in rules:
        groups.setdefault((rule.verdict, rule.reason), []).append(rule)
    return groups


def _group(reason: tuple[Verdict, str], rules: list[RuleResult], result: RunResult, detail: Detail) -> str:
    said = foreign(cut(reason[1] or "no reason was given", min(detail.text, 300)))
    return f"<li>{badge(kind_of(rules[0], result))} <b>{len(rules)}</b> {said}<br>{links(rules)}</li>"


def links(rules: list[RuleResult]) -> str:
    """Links to the rules; only the first ones if there are many."""
    more = f" and {len(rules) - _RULES_IN_SIGHT} more" if len(rules) > _RULES_IN_SIGHT else ""
    return ", ".join(link(rule.id) for rule in rules[:_RULES_IN_SIGHT]) + more


def _left_out(result: RunResult) -> str:
    """Parts that were left out of rules that passed."""
    rules = [
        rule
        for rule in result.rules
        if rule.verdict in {Verdict.PASSED, Verdict.OBSERVED}
        and any(check.verdict is Verdict.NOT_TESTABLE for check in rule.checks)
    ]
    if not rules:
        return ""
    what = (
        "A part that the rule does not need was"
        if len(rules) == 1
        else "Parts that the rules do not need were"
    )
    return f"<p>{what} left out of {counted(len(rules), 'rule')}: {links(rules)}.</p>"


def _selected(result: RunResult) -> str:
    selection = result.run.get("selection") or {}
    if not any(selection.values()):
        return ""
    return "<p>This run asked for a part of the rules only; the others are not on this page.</p>"


def first_failure(result: RunResult, detail: Detail) -> str:
    """The first failed rule that decides; without one, the first error or other failure."""
    for kind in (FAILED, ERROR, FINDING, BASELINED):
        rule = next((rule for rule in result.rules if kind_of(rule, result) == kind), None)
        if rule is not None:
            return _first(rule, result, detail)
    held = "Nothing failed." if result.verdict is not RunVerdict.NO_VERDICT else "No failure was found."
    return f"<section aria-labelledby=first><h2 id=first>First failure</h2><p>{held}</p></section>"


def _first(rule: RuleResult, result: RunResult, detail: Detail) -> str:
    kind = kind_of(rule, result)
    check = _first_check(rule)
    said = f"<p>{foreign(cut(rule.reason, detail.text))}</p>"
    if check is not None and check.expected:
        compared = (("Expected", check.expected), ("Observed", check.got))
        said = facts((term, foreign(cut(value, 300))) for term, value in compared)
    what = "First error" if kind is ERROR else "First failure"
    return (
        f"<section aria-labelledby=first><h2 id=first>{what}</h2><p>{badge(kind)} {link(rule.id)} "
        f"{text(rule.title)}</p>{said}</section>"
    )


def _first_check(rule: RuleResult) -> CheckResult | None:
    return next((check for check in rule.checks if check.verdict is rule.verdict), None)
