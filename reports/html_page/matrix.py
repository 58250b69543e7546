"""The table of rules by family and verdict, with links to the rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gateproof.reports.families import FAMILIES, family_of
from gateproof.reports.html_page.labels import FAILED, KINDS, NOT_TESTABLE, PASSED, Kind, badge, kind_of
from gateproof.reports.html_page.markup import anchor, attribute, text
from gateproof.reports.verdicts import RuleResult, RunResult

_ALWAYS = (FAILED, NOT_TESTABLE, PASSED)


def matrix(result: RunResult) -> str:
    """A table with a row for each family and a column for each verdict; on a narrow screen rows become lists.

    Every cell has its own sign and word, because the column heads are hidden on narrow screens.
    """
    by_family: dict[str, dict[Kind, list[RuleResult]]] = {}
    for rule in result.rules:
        found = by_family.setdefault(family_of(rule.id), {})
        found.setdefault(kind_of(rule, result), []).append(rule)
    kinds = [kind for kind in KINDS if kind in _ALWAYS or any(kind in found for found in by_family.values())]
    head = "".join(_column(kind, by_family) for kind in kinds)
    rows = "".join(
        _row(family, FAMILIES.get(family, ""), found, kinds) for family, found in by_family.items()
    )
    return (
        "<section aria-labelledby=matrix><h2 id=matrix>Rules by family and verdict</h2>"
        "<table class=matrix aria-labelledby=matrix><thead><tr>"
        f"<th scope=col>Family</th>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table></section>"
    )


def _column(kind: Kind, by_family: Mapping[str, Mapping[Kind, Sequence[RuleResult]]]) -> str:
    total = sum(len(found.get(kind, ())) for found in by_family.values())
    return f"<th scope=col>{badge(kind)} <span class=total>{total}</span></th>"


def _row(family: str, name: str, found: Mapping[Kind, Sequence[RuleResult]], kinds: Sequence[Kind]) -> str:
    described = f" <small>{text(name)}</small>" if name else ""
    cells = "".join(_cell(found.get(kind, ()), kind) for kind in kinds)
    return f"<tr><th scope=row>{text(family)}{described}</th>{cells}</tr>"


def _cell(rules: Sequence[RuleResult], kind: Kind) -> str:
    if not rules:
        return "<td class=none></td>"
    numbers = " ".join(
        f'<a href="#{anchor(rule.id)}" title="{attribute(rule.title)}">'
        f"<span class=off>{text(family_of(rule.id))}-</span>{text(rule.id.rpartition('-')[2])}</a>"
        for rule in rules
    )
    return (
        f'<td class="{kind.tone}"><span class=tag><span aria-hidden=true>{kind.sign}</span> '
        f"<span class=word>{text(kind.word)}</span></span> {numbers}</td>"
    )
