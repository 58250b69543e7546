"""The points of `growth.py`, their medians, the straight lines through them, and the table of both."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Point:
    """One run; `x` is its place on the axis of its panel."""

    panel: str
    setting: str
    x: float
    wall_s: float
    processor_s: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One of the pictures: what is on its axis, and what its slope is called.

    A straight line is fitted over `scale(x)`. Work that is divided among workers falls with one divided by
    their number, so there the slope is the divided part.
    """

    name: str
    axis: str
    scale: Callable[[float], float]
    slope: str


PANELS = (
    Panel(name="checks", axis="checks", scale=lambda x: x, slope="{:.3f} s per check"),
    Panel(name="examples", axis="generated examples", scale=lambda x: x / 1000, slope="{:.1f} s per 1,000"),
    Panel(name="workers", axis="workers", scale=lambda x: 1 / x, slope="{:.1f} s ÷ workers"),
)
# The two measures of a point: the name of its field, and its label.
MEASURES = {"wall_s": "wall", "processor_s": "processor time"}


@dataclass(frozen=True)
class Line:
    """A straight line over the scaled axis of a panel."""

    slope: float
    intercept: float

    def at(self, scaled: float) -> float:
        return self.intercept + self.slope * scaled

    def text(self, panel: Panel) -> str:
        sign = "-" if self.slope < 0 else "+"
        return f"{self.intercept:.1f} s {sign} {panel.slope.format(abs(self.slope))}"


def of_panel(points: Sequence[Point], panel: Panel) -> list[Point]:
    return [point for point in points if point.panel == panel.name]


def medians(points: Sequence[Point]) -> list[Point]:
    """One point for each setting of a panel, in the order of the axis."""
    found: dict[str, list[Point]] = {}
    for point in points:
        found.setdefault(point.setting, []).append(point)
    middle = [
        Point(
            panel=group[0].panel,
            setting=setting,
            x=statistics.median(point.x for point in group),
            wall_s=statistics.median(point.wall_s for point in group),
            processor_s=statistics.median(point.processor_s for point in group),
        )
        for setting, group in found.items()
    ]
    return sorted(middle, key=lambda point: point.x)


def fitted(points: Sequence[Point], panel: Panel, measure: str) -> Line:
    """The line with the least squares through all runs of a panel."""
    slope, intercept = statistics.linear_regression(
        [panel.scale(point.x) for point in points], [getattr(point, measure) for point in points]
    )
    return Line(slope, intercept)


def table(points: Sequence[Point]) -> str:
    """The medians and the lines as Markdown."""
    lines = ["| varied | setting | value | wall, s | processor time, s |", "|---|---|--:|--:|--:|"]
    for panel in PANELS:
        runs = of_panel(points, panel)
        lines += [
            f"| {panel.axis} | {point.setting} | {point.x:,.0f} | {point.wall_s:.1f} |"
            f" {point.processor_s:.1f} |"
            for point in medians(runs)
        ]
        wall, processor = (fitted(runs, panel, measure).text(panel) for measure in MEASURES)
        lines.append(f"| {panel.axis} | straight line | | {wall} | {processor} |")
    return "\n".join(lines)
