"""Draws the points of `growth.py`: a panel for each thing that varies, with medians and straight lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from growth_lines import MEASURES, PANELS, Line, Panel, Point, fitted, medians, of_panel

from gateproof.reports.escaping import xml

_WIDTH, _HEIGHT, _GAP = 300, 290, 20
# The plot inside a panel.
_LEFT, _TOP, _RIGHT, _BOTTOM = 44, 84, 12, 44
_TICKS = 4
# The colours are those of text on the background in both schemes; the marks differ in shape, too.
_STYLE = (
    "svg{--paper:#fff;--ink:#1f2328;--rule:#d1d5da;--wall_s:#0550ae;--processor_s:#953800}"
    "@media(prefers-color-scheme:dark){"
    "svg{--paper:#0d1117;--ink:#e6edf3;--rule:#3d444d;--wall_s:#79c0ff;--processor_s:#ffa657}}"
    "text{font:11px Verdana,DejaVu Sans,sans-serif;fill:var(--ink)}"
    ".title{font-weight:bold}.end{text-anchor:end}.middle{text-anchor:middle}"
    ".grid{stroke:var(--rule)}.line{stroke-width:1.5;fill:none}"
    + "".join(
        f".{name} .line{{stroke:var(--{name})}}.{name} text{{fill:var(--{name})}}"
        f".{name} .run{{fill:var(--{name});fill-opacity:.35}}.{name} .median{{fill:var(--{name})}}"
        for name in MEASURES
    )
)


def drawn(points: Sequence[Point]) -> str:
    """The whole picture."""
    width = len(PANELS) * (_WIDTH + _GAP) - _GAP
    panels = [
        f'<g transform="translate({number * (_WIDTH + _GAP)} 0)">{_panel(panel, of_panel(points, panel))}</g>'
        for number, panel in enumerate(PANELS)
    ]
    size = f'width="{width}" height="{_HEIGHT}"'
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {_HEIGHT}" role="img"'
    lines = [
        f'{opening} aria-labelledby="title desc">',
        '<title id="title">How a run grows with checks, examples and workers</title>',
        f'<desc id="desc">{xml(described(points))}</desc>',
        f"<style>{_STYLE}</style>",
        f'<rect {size} style="fill:var(--paper)"/>',
        *panels,
        "</svg>",
        "",
    ]
    return "\n".join(lines)


def described(points: Sequence[Point]) -> str:
    """The lines as text, for screen readers."""
    return " ".join(
        f"{panel.axis}, {label}: {fitted(of_panel(points, panel), panel, measure).text(panel)}."
        for panel in PANELS
        for measure, label in MEASURES.items()
    )


def ticks(most: float) -> list[float]:
    """Round numbers from zero to the first one that is not below the largest value."""
    step = 1.0
    while step * _TICKS < most:
        step *= 2.5 if str(step)[0] == "2" else 2
    count = next(number for number in range(1, _TICKS + 1) if number * step >= most)
    return [number * step for number in range(count + 1)]


def _panel(panel: Panel, points: Sequence[Point]) -> str:
    rows = ticks(max(max(point.wall_s, point.processor_s) for point in points))
    columns = _columns(panel, points)
    most = max(columns)

    def across(scaled: float) -> float:
        return _LEFT + scaled / most * (_WIDTH - _LEFT - _RIGHT)

    def down(seconds: float) -> float:
        return _HEIGHT - _BOTTOM - seconds / rows[-1] * (_HEIGHT - _TOP - _BOTTOM)

    pieces = [f'<text class="title" x="{_LEFT}" y="20">seconds by {xml(panel.axis)}</text>']
    for row in rows:
        pieces.append(f'<path class="grid" d="M{_LEFT} {down(row):.1f}H{_WIDTH - _RIGHT}"/>')
        pieces.append(f'<text class="end" x="{_LEFT - 6}" y="{down(row) + 4:.1f}">{row:g}</text>')
    for scaled, label in columns.items():
        pieces.append(
            f'<text class="middle" x="{across(scaled):.1f}" y="{_HEIGHT - _BOTTOM + 18}">{label}</text>'
        )
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    pieces.append(f'<text class="middle" x="{middle:g}" y="{_HEIGHT - 8}">{xml(panel.axis)}</text>')
    for number, (measure, label) in enumerate(MEASURES.items()):
        line = fitted(points, panel, measure)
        said = f"{label}: {line.text(panel)}"
        pieces += [
            f'<g class="{measure}">',
            _mark(measure, _LEFT + 4, 36 + 18 * number, "median"),
            f'<text x="{_LEFT + 14}" y="{40 + 18 * number}">{xml(said)}</text>',
            _straight(line, [panel.scale(point.x) for point in points], across, down),
            *(_at(measure, panel, point, across, down, "run") for point in points),
            *(_at(measure, panel, point, across, down, "median") for point in medians(points)),
            "</g>",
        ]
    return "".join(pieces)


def _columns(panel: Panel, points: Sequence[Point]) -> dict[float, str]:
    """The labels of the axis, by their place: the numbers of workers, or round numbers from zero."""
    if panel.name == "workers":
        return {panel.scale(point.x): point.setting for point in medians(points)}
    return {panel.scale(value): f"{value:,.0f}" for value in ticks(max(point.x for point in points))}


def _straight(
    line: Line,
    scaled: Sequence[float],
    across: Callable[[float], float],
    down: Callable[[float], float],
) -> str:
    ends = [f"{across(x):.1f} {down(line.at(x)):.1f}" for x in (min(scaled), max(scaled))]
    return f'<path class="line" d="M{ends[0]}L{ends[1]}"/>'


def _at(
    measure: str,
    panel: Panel,
    point: Point,
    across: Callable[[float], float],
    down: Callable[[float], float],
    kind: str,
) -> str:
    return _mark(measure, across(panel.scale(point.x)), down(getattr(point, measure)), kind)


def _mark(measure: str, x: float, y: float, kind: str) -> str:
    """A circle for the wall, a square for the processor time; medians are larger."""
    size = 4 if kind == "median" else 2.5
    if measure == "wall_s":
        return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{size}"/>'
    return (
        f'<rect class="{kind}" x="{x - size:.1f}" y="{y - size:.1f}" width="{2 * size}" height="{2 * size}"/>'
    )
