"""The table of faults and their outcomes."""

from __future__ import annotations

from collections.abc import Sequence

from gateproof.reports.fault_matrix import OUTCOMES, FaultRow, fault_rows, faults_in_a_line
from gateproof.reports.html_page.labels import badge, kind_of_check
from gateproof.reports.html_page.markup import link, text
from gateproof.reports.verdicts import RunResult, Verdict


def faults(result: RunResult) -> str:
    """A table with a row for each fault and hop, and a column for each outcome; empty without faults."""
    rows = fault_rows(result)
    if not rows:
        return ""
    outcomes = [outcome for outcome in OUTCOMES if any(outcome in row.rules for row in rows)]
    heads = "".join(f"<th scope=col>{badge(kind_of_check(outcome))}</th>" for outcome in outcomes)
    return (
        "<section aria-labelledby=faults><h2 id=faults>Faults by hop and outcome</h2>"
        f"<p class=note>{text(faults_in_a_line(result).capitalize())}. The column of an outcome lists the "
        "rules whose checks ended with it while the fault was active.</p>"
        "<table class=matrix aria-labelledby=faults><thead><tr><th scope=col>Fault</th>"
        f"<th scope=col>Hop</th><th scope=col>Fired</th>{heads}</tr></thead>"
        f"<tbody>{''.join(_row(row, outcomes) for row in rows)}</tbody></table></section>"
    )


def _row(row: FaultRow, outcomes: Sequence[Verdict]) -> str:
    cells = "".join(_cell(row.rules.get(outcome, ()), outcome) for outcome in outcomes)
    return (
        f"<tr><th scope=row>{text(row.name)} <small>{text(row.layer)}</small></th>"
        f"<td>{text(row.hop)}</td><td>{_times(row.fired)}</td>{cells}</tr>"
    )


def _times(fired: int) -> str:
    return "never" if not fired else "once" if fired == 1 else f"{fired} times"


def _cell(rules: Sequence[str], outcome: Verdict) -> str:
    if not rules:
        return "<td class=none></td>"
    kind = kind_of_check(outcome)
    return (
        f'<td class="{kind.tone}"><span class=tag><span aria-hidden=true>{kind.sign}</span> '
        f"<span class=word>{text(kind.word)}</span></span> {' '.join(map(link, rules))}</td>"
    )
