"""The sequence diagram, which grows with the walk. Its content is also in the steps as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from gateproof.reference.playground.walk import Exhibit, Party
from gateproof.reference.site.markup import Child, Html, tag

PARTIES: tuple[Party, ...] = get_args(Party)
WIDTH, TOP, LINE, BETWEEN, GAP = 960, 56, 20, 8, 200
FIRST = 80
HEAD = 8


def diagram(exhibits: Sequence[Exhibit]) -> Html:
    """An arrow for each request, and one for its answer below it."""
    y, rows = TOP + LINE, list[Child]()
    for each in exhibits:
        drawn = _exchange(each, y)
        rows += drawn
        y += LINE * len(drawn) + BETWEEN
    height = y + BETWEEN
    said = f"{len(exhibits)} exchanges so far between browser, agent, service, gateway and merchant."
    picture = tag(
        "svg",
        [_lifeline(party, height) for party in PARTIES],
        rows,
        viewBox=f"0 0 {WIDTH} {height}",
        role="img",
        aria_label=f"Sequence diagram. {said} Each of them is listed in its step below.",
    )
    return tag("figure", picture, tabindex="0", aria_label="Sequence diagram")


def _lifeline(party: Party, height: int) -> list[Child]:
    x = _x(party)
    return [
        tag("line", x1=x, y1=44, x2=x, y2=height, class_="life"),
        tag("rect", x=x - 58, y=8, width=116, height=36, rx=6, class_="box"),
        tag("text", party, x=x, y=31, text_anchor="middle", class_="party"),
    ]


def _exchange(exhibit: Exhibit, y: int) -> list[Child]:
    """The arrows for a request and an answer, if there are any."""
    one, two = _x(exhibit.sender), _x(exhibit.receiver)
    bad = exhibit.status is not None and exhibit.status >= 400
    drawn: list[Child] = []
    if exhibit.request:
        drawn.append(_arrow(one, two, y, f"{exhibit.step}. {exhibit.label}", ""))
    if exhibit.status is not None:
        label = f"{exhibit.status}" if exhibit.request else f"{exhibit.step}. {exhibit.status}"
        drawn.append(_arrow(two, one, y + LINE * len(drawn), label, "bad" if bad else "back"))
    return drawn


def _arrow(start: int, end: int, y: int, label: str, kind: str) -> list[Child]:
    """An arrow with a polygon as its head; an SVG marker would need its own style."""
    turn = 1 if end > start else -1
    back = end - turn * HEAD
    return [
        tag("line", x1=start, y1=y, x2=back, y2=y, class_=f"arrow {kind}".strip()),
        tag("polygon", points=f"{end},{y} {back},{y - 4} {back},{y + 4}", class_=f"head {kind}".strip()),
        tag("text", label, x=(start + end) // 2, y=y - 4, text_anchor="middle"),
    ]


def _x(party: Party) -> int:
    return FIRST + GAP * PARTIES.index(party)
