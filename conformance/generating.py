"""Generated input beside the listed cases: drawn from the seed, and shrunk to the smallest that fails."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from conformance.claims import Violated, beside
from reports.verdicts import EXAMPLE

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True, slots=True)
class Draw:
    """Draws the same values for the same seed.

    `replay` is a stored failure that is to be seen again, in place of anything drawn. Where nobody is going
    to read what failed, nothing `shrinks`.
    """

    seed: int
    examples: int
    replay: Mapping[str, Any] | None = None
    shrinks: bool = True

    def each(self, strategy: SearchStrategy[Value], holds: Callable[[Value], None]) -> None:
        """What `holds` claims is true of every value drawn; the smallest one that breaks it is told."""
        hypothesis = _hypothesis()
        broken: list[tuple[Violated, Value]] = []

        def ask(value: Value) -> None:
            try:
                holds(value)
            except Violated as violated:
                broken.append((violated, value))
                raise

        drawn = hypothesis.given(strategy)(ask)
        drawn = hypothesis.seed(self.seed)(drawn)
        limits = hypothesis.settings(
            max_examples=self.examples,
            database=None,
            deadline=None,
            derandomize=False,
            phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
            suppress_health_check=list(hypothesis.HealthCheck),
            report_multiple_bugs=False,
            print_blob=False,
        )
        # A claim that breaks once and holds the next time is broken: the last one that did is the smallest.
        with suppress(Violated, hypothesis.errors.Flaky):
            limits(drawn)()
        if broken:
            violated, smallest = broken[-1]
            beside(**{EXAMPLE: smallest})
            raise violated


@cache
def _hypothesis() -> Any:
    """The library, which takes half a second to load, with its caches where nobody has to clear them away."""
    import hypothesis  # noqa: PLC0415
    from hypothesis.configuration import set_hypothesis_home_dir  # noqa: PLC0415

    set_hypothesis_home_dir(Path(_home().name))
    return hypothesis


@cache
def _home() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="gateproof-")
