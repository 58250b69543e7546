"""Generated input in addition to listed cases: drawn from the seed, shrunk to the smallest failure."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from gateproof.conformance.suite.campaign import Campaign
from gateproof.conformance.suite.claims import LeftOut, Violated, attach, repeat_with
from gateproof.reports.verdicts import EXAMPLE

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Value = TypeVar("Value")
# A stored example is used as it is; it does not depend on how the library draws values.
KIND = "example"


@dataclass(frozen=True, kw_only=True, slots=True)
class Draw:
    """Draws values; the same seed gives the same values.

    `replay` is a stored failure that is tested instead of drawn values. Without `shrinks`, failures are not
    made smaller, because nobody will read them. A campaign first repeats stored failures, then continues with
    one seed after the other.
    """

    seed: int
    examples: int
    check: str = ""
    campaign: Campaign | None = None
    replay: Mapping[str, Any] | None = None
    shrinks: bool = True

    def each(self, strategy: SearchStrategy[Value], holds: Callable[[Value], None]) -> None:
        """Calls `holds` with every drawn value; reports and stores the smallest value that breaks a claim."""
        if self.replay is not None:
            if self.replay["kind"] != KIND:
                raise LeftOut(f"the stored failure is not an {KIND} of this check")
            holds(self.replay["value"])
            return
        for turn in self.turns():
            self._each(strategy, holds, turn)

    def maximize(self, label: str, reached: float) -> None:
        """Guides drawing to values with a larger `reached`; called within `holds`."""
        if self.replay is None:
            load_hypothesis().target(float(reached), label=label)

    def turns(self) -> Iterable[int]:
        """The turn numbers: one turn, or those of a campaign."""
        return (0,) if self.campaign is None else self.campaign.turns()

    def _each(self, strategy: SearchStrategy[Value], holds: Callable[[Value], None], turn: int) -> None:
        hypothesis = load_hypothesis()
        broken: list[tuple[Violated, Value]] = []
        ended: list[Exception] = []

        def ask(value: Value) -> None:
            if ended:
                return
            # Prefers large and deep values: parsers fail there.
            for label, reached in _extent(value).items():
                self.maximize(label, reached)
            try:
                holds(value)
            except Violated as violated:
                broken.append((violated, value))
                raise
            except Exception as other:
                # Not a broken claim: this is not shrunk, and no further value is tested.
                ended.append(other)
                raise

        drawn = hypothesis.given(strategy)(ask)
        drawn = hypothesis.seed(self.seed + turn)(drawn)
        generate = [hypothesis.Phase.generate, hypothesis.Phase.target, hypothesis.Phase.shrink]
        limits = hypothesis.settings(
            max_examples=self.examples,
            database=self._database(),
            deadline=None,
            derandomize=False,
            phases=generate if turn else [hypothesis.Phase.reuse, *generate],
            suppress_health_check=list(hypothesis.HealthCheck),
            report_multiple_bugs=False,
            print_blob=False,
        )
        # Flaky: a claim that broke once is broken. The last broken value is the smallest.
        with suppress(Violated, hypothesis.errors.Flaky), _ignoring(ended):
            limits(drawn)()
        if broken:
            violated, smallest = broken[-1]
            attach(**{EXAMPLE: smallest})
            repeat_with({"kind": KIND, "value": smallest})
            raise violated
        if ended:
            raise ended[0]

    def _database(self) -> Any:
        if self.campaign is None:
            return None
        from hypothesis.database import DirectoryBasedExampleDatabase  # noqa: PLC0415

        return DirectoryBasedExampleDatabase(self.campaign.folder_of(self.check))


@contextmanager
def _ignoring(ended: Sequence[Exception]) -> Iterator[None]:
    """Suppresses the exceptions in `ended`: the caller raises them itself."""
    try:
        yield
    except Exception as error:
        if error not in ended:
            raise


def _extent(value: object) -> dict[str, float]:
    """Size and depth of a value."""
    size, depth, level = 0, 0, [value]
    while level:
        inner: list[object] = []
        for each in level:
            size += len(each) if isinstance(each, str) else 1
            inner += _inside(each)
        depth, level = depth + 1, inner
    return {"size": float(size), "depth": float(depth)}


def _inside(value: object) -> list[object]:
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    return list(value) if isinstance(value, list | tuple) else []


@cache
def load_hypothesis() -> Any:
    """Imports Hypothesis, which takes half a second, with its caches in a temporary folder.

    In a checkout, Hypothesis also draws constants from the source of loaded modules. That is disabled: it
    would make the values depend on which checks run, and each process would parse all sources.
    """
    import hypothesis  # noqa: PLC0415
    from hypothesis.configuration import set_hypothesis_home_dir  # noqa: PLC0415

    set_hypothesis_home_dir(hypothesis_home())
    # There is no setting for this. If a later version renames it, those constants are drawn again.
    with suppress(ImportError):
        from hypothesis.internal.conjecture import providers  # noqa: PLC0415
        from hypothesis.internal.constants_ast import Constants  # noqa: PLC0415

        setattr(providers, "_get_local_constants", Constants)  # noqa: B010 - a private name
    return hypothesis


def hypothesis_home() -> Path:
    """The folder of Hypothesis for this process, which removes it at its end."""
    return Path(_home().name)


@cache
def _home() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="gateproof-")
