"""One rule on the page: in full if it failed or ended in an error, else folded."""

from __future__ import annotations

import json
from collections.abc import Iterable

from gateproof.reports.html_page.exchange import Detail, exchanges_of
from gateproof.reports.html_page.labels import Kind, badge, kind_of, kind_of_check
from gateproof.reports.html_page.markup import anchor, attribute, block, counted, cut, facts, foreign, text
from gateproof.reports.replay_files import story
from gateproof.reports.summary_texts import again
from gateproof.reports.verdicts import CheckResult, RuleResult, RunResult, Verdict, many

_SPOKEN_OF = {Verdict.FAILED, Verdict.ERROR}


def in_full(rule: RuleResult, result: RunResult, detail: Detail) -> str:
    """A rule that failed or ended in an error, with all details."""
    kind, name = kind_of(rule, result), anchor(rule.id)
    checks = [check for check in rule.checks if check.verdict in _SPOKEN_OF]
    others = [check for check in rule.checks if check.verdict not in _SPOKEN_OF]
    body = [
        _check(check, rule, result, detail, name=f"{name}.{number}") for number, check in enumerate(checks, 1)
    ]
    if others:
        body.append(f"<h4>The other checks of this rule</h4>{_checks(others, detail)}")
    body.append(_observations(rule.checks, detail))
    return (
        f'<article class="rule {kind.tone}" id="{name}" {_filtered(rule, kind)} aria-labelledby="{name}.h">'
        f'<h3 id="{name}.h">{_headline(rule, kind)}</h3>{_meaning(rule, result, name)}{"".join(body)}'
        f"<p class=label>Run it again</p>{block(again(result, rule), 'command')}"
        f"<p class=note>How it is checked: <code>gateproof explain {text(rule.id)}</code></p></article>"
    )


def folded(rule: RuleResult, result: RunResult, detail: Detail) -> str:
    """Any other rule, folded. Its anchor is inside, so that a link to it unfolds the rule."""
    kind, name = kind_of(rule, result), anchor(rule.id)
    opened = " open" if rule.verdict is Verdict.OBSERVED else ""
    reason = f"<p><b>Reason:</b> {foreign(cut(rule.reason, detail.text))}</p>" if rule.reason else ""
    checks = (
        f"<h4>{counted(len(rule.checks), 'check')}</h4>{_checks(rule.checks, detail)}" if rule.checks else ""
    )
    recorded = _observations(rule.checks, detail)
    return (
        f'<details class="rule {kind.tone}" {_filtered(rule, kind)}{opened}>'
        f"<summary><h3>{_headline(rule, kind)}</h3></summary>"
        f'<div class=body id="{name}">{reason}{recorded}{_meaning(rule, result, name)}{checks}</div>'
        "</details>"
    )


def _filtered(rule: RuleResult, kind: Kind) -> str:
    return f'data-rule data-kind="{kind.name}" data-level="{attribute(rule.level)}"'


def _headline(rule: RuleResult, kind: Kind) -> str:
    level = f"<span class=level><span class=off>level </span>{text(rule.level)}</span>"
    return f"{badge(kind)} <span class=id>{text(rule.id)}</span> {text(rule.title)} {level}"


def _meaning(rule: RuleResult, result: RunResult, name: str) -> str:
    rows = [
        ("Recorded" if rule.level == "silent" else "Must hold", text(rule.holds)),
        ("Why it matters", text(rule.why)),
        ("Specification", text(rule.section)),
        ("Standard", text(rule.standard)),
        ("Baseline", _baseline(rule, result)),
        ("Link", f'<a href="#{name}">#{name}</a>'),
    ]
    return facts(rows)


def _baseline(rule: RuleResult, result: RunResult) -> str:
    """Why the baseline accepts a failure, and until when."""
    if not rule.baselined:
        return ""
    entries = result.run.get("baseline") or ()
    until = sorted({entry.get("expires") for entry in entries if entry.get("rule") == rule.id})
    day = f", until {text(until[0])}" if until else ""
    hidden = many(rule.failing, "failed check")
    return f"{foreign(rule.baselined)}{day} ({hidden})"


def _check(check: CheckResult, rule: RuleResult, result: RunResult, detail: Detail, *, name: str) -> str:
    """A check that failed or broke: expected, observed, and the exchanges."""
    kind = kind_of_check(check.verdict)
    if check.verdict is Verdict.FAILED:
        kind = kind_of(rule, result)
    if check.expected or check.got:
        question = f"<p class=note>{foreign(cut(check.question, detail.text))}</p>" if check.question else ""
        said = (
            f"<p>{foreign(cut(check.what, detail.text))}</p><div class=versus>"
            f"<div><p class=label>Expected</p>{block(cut(check.expected, detail.text))}</div>"
            f"<div class=got><p class=label>Observed</p>{block(cut(check.got, detail.text))}</div></div>"
            f"{question}"
        )
    else:
        said = f"<p>{foreign(cut(check.message, detail.text))}</p>"
    return (
        f"<section class=check><h4>{badge(kind)} <code>{foreign(_short(check))}</code></h4>{said}"
        f"{_story(check, detail)}{exchanges_of(check, result, detail, name=name)}</section>"
    )


def _story(check: CheckResult, detail: Detail) -> str:
    """The steps of a failed history."""
    steps = "".join(f"<li>{foreign(cut(sentence, detail.text))}" for sentence in story(check))
    return f"<p class=label>The history</p><ol class=story>{steps}</ol>" if steps else ""


def _checks(checks: Iterable[CheckResult], detail: Detail) -> str:
    return f"<ul class=checks>{''.join(_line(check, detail) for check in checks)}</ul>"


def _line(check: CheckResult, detail: Detail) -> str:
    message = f"<br>{foreign(cut(check.message, detail.text))}" if check.message else ""
    return (
        f"<li>{badge(kind_of_check(check.verdict))} <code>{foreign(_short(check))}</code> "
        f"<small class=took>{check.duration_s * 1000:.0f} ms</small>{message}</li>"
    )


def _short(check: CheckResult) -> str:
    """The check ID without the rule ID, which is shown above it."""
    return check.id.removeprefix(f"{check.rule}/")


def _observations(checks: Iterable[CheckResult], detail: Detail) -> str:
    """The observations of the checks, as a table."""
    rows = "".join(
        f"<tr><th scope=row>{_fact(name, detail)}<td><code>{_fact(_value(fact), detail)}</code>"
        f"<td><code>{_fact(_short(check), detail)}</code>"
        for check in checks
        for name, fact in check.observations.items()
    )
    head = "<tr><th scope=col>Observed<th scope=col>Value<th scope=col>By the check"
    return f"<table class=observed><thead>{head}<tbody>{rows}</table>" if rows else ""


def _fact(words: str, detail: Detail) -> str:
    return foreign(cut(words, detail.text))


def _value(fact: object) -> str:
    return fact if isinstance(fact, str) else json.dumps(fact, ensure_ascii=False, default=str)
