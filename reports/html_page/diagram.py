"""A sequence diagram of exchanges in SVG, in which the answer that breaks the rule is marked."""

from __future__ import annotations

from collections.abc import Sequence

from gateproof.reports.exchanges import Shown, outcome
from gateproof.reports.html_page.markup import attribute
from gateproof.reports.html_page.parties import ORDER, UNDER_TEST, parties, path
from gateproof.reports.verdicts import RunResult

_LEFT = 64
_GAP = 240
_TOP = 46
_ROW = 74
# The approximate width of a character in the two fonts.
_NARROW, _WIDE = 6.7, 6.3
_BREAKS = "✗ breaks the rule"


def diagram(
    exchanges: Sequence[Shown], result: RunResult, *, name: str, first: int, guilty: int | None
) -> str:
    """The exchanges from top to bottom, numbered from `first`; `name` is unique on the page.

    `guilty` is the position of the exchange whose answer breaks the rule.
    """
    ways = [parties(shown, result) for shown in exchanges]
    lanes = _lanes(ways)
    x_of = {party: _LEFT + _GAP * number for number, party in enumerate(lanes)}
    width = 2 * _LEFT + _GAP * (len(lanes) - 1)
    height = _TOP + _ROW * len(exchanges) + 12
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    pieces = [
        f'<svg {size} role="img" aria-labelledby="{name}-t {name}-d">',
        f'<title id="{name}-t">Who sent what to whom</title>',
        f'<desc id="{name}-d">{_described(exchanges, ways, first, guilty)}</desc>',
        *(_lane(party, x_of[party], height, UNDER_TEST.get(result.role)) for party in lanes),
    ]
    for number, (shown, (sender, receiver)) in enumerate(zip(exchanges, ways, strict=True)):
        marked = number == guilty
        y = _TOP + _ROW * number + 16
        pieces.append(_row(shown, x_of[sender], x_of[receiver], y, first + number, marked=marked))
    return "".join([*pieces, "</svg>"])


def _lanes(ways: Sequence[tuple[str, str]]) -> list[str]:
    """The parties from left to right; unknown ones at the right, in order of appearance."""
    met = list(dict.fromkeys(party for way in ways for party in way))
    return sorted(met, key=lambda party: ORDER.index(party) if party in ORDER else len(ORDER))


def _lane(party: str, x: int, height: int, under_test: str | None) -> str:
    box, note = 'class="box"', ""
    if party == under_test:
        box, note = 'class="box test"', ' <tspan class="note">under test</tspan>'
    return (
        f'<path class="life" d="M{x} 32V{height}"/>'
        f'<rect {box} x="{x - 62}" y="4" width="124" height="28" rx="6"/>'
        f'<text class="who" x="{x}" y="23">{attribute(_short(party, 116, _NARROW))}{note}</text>'
    )


def _row(shown: Shown, start: int, end: int, y: int, number: int, *, marked: bool) -> str:
    """A request, and its answer below it."""
    # A party that sends to itself gets an arrow to a point beside it.
    end = start + _GAP // 2 if start == end else end
    middle, room = (start + end) // 2, abs(end - start) - 20
    back = y + 40
    step = _short(f"{number} {shown.step}", room, _NARROW)
    asked = _short(f"{shown.method} {path(shown.url)}", room, _WIDE)
    kind = " bad" if marked else ""
    word = f'<text class="word" x="{middle}" y="{back + 15}">{_BREAKS}</text>' if marked else ""
    answer = _short(outcome(shown), room, _WIDE)
    return (
        f'<text class="step" x="{middle}" y="{y - 4}">{attribute(step)}</text>'
        f'<text class="asked" x="{middle}" y="{y + 9}">{attribute(asked)}</text>'
        f'<path class="ask" d="{_arrow(start, end, y + 15)}"/>'
        f'<text class="got{kind}" x="{middle}" y="{back - 6}">{attribute(answer)}</text>{word}'
        f'<path class="back{kind}" d="M{end} {back}H{start}"/>'
        f'<path class="tip{kind}" d="{_tip(end, start, back)}"/>'
    )


def _arrow(start: int, end: int, y: int) -> str:
    return f"M{start} {y}H{end}{_tip(start, end, y)}"


def _tip(start: int, end: int, y: int) -> str:
    back = -8 if end > start else 8
    return f"M{end + back} {y - 4}L{end} {y}L{end + back} {y + 4}"


def _described(
    exchanges: Sequence[Shown], ways: Sequence[tuple[str, str]], first: int, guilty: int | None
) -> str:
    """The diagram as text for screen readers."""
    told = [
        f"{number}. {sender} to {receiver}, {shown.step}: {_cut(f'{shown.method} {path(shown.url)}', 120)};"
        f" the answer is {_cut(outcome(shown), 120)}."
        for number, (shown, (sender, receiver)) in enumerate(zip(exchanges, ways, strict=True), first)
    ]
    if guilty is not None:
        told.append(f"Answer {first + guilty} breaks the rule.")
    return attribute(" ".join(told))


def _short(text: str, room: int, character: float) -> str:
    return _cut(text, max(int(room / character), 6))


def _cut(text: str, most: int) -> str:
    """A long text with its middle left out; beginning and end show where a request went."""
    if len(text) <= most:
        return text
    head = most * 2 // 3
    return f"{text[:head]}…{text[head + 1 - most :]}"
