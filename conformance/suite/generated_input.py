"""Generated input beside the listed cases: drawn from the seed, and shrunk to the smallest that fails."""

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
# A stored example is asked again as it stands, with no library that would have to draw it the same way.
KIND = "example"


@dataclass(frozen=True, kw_only=True, slots=True)
class Draw:
    """Draws the same values for the same seed.

    `replay` is a stored failure that is to be seen again, in place of anything drawn. Where nobody is going
    to read what failed, nothing `shrinks`. In a campaign, what failed before comes first, and then seed after
    seed.
    """

    seed: int
    examples: int
    check: str = ""
    campaign: Campaign | None = None
    replay: Mapping[str, Any] | None = None
    shrinks: bool = True

    def each(self, strategy: SearchStrategy[Value], holds: Callable[[Value], None]) -> None:
        """What `holds` claims is true of every value drawn; the smallest that breaks it is told and kept."""
        if self.replay is not None:
            if self.replay["kind"] != KIND:
                raise LeftOut(f"what was stored is no {KIND} of this check's")
            holds(self.replay["value"])
            return
        for turn in self.turns():
            self._each(strategy, holds, turn)

    def toward(self, label: str, reached: float) -> None:
        """What is drawn leads on from values that reached more of this; said within `holds`."""
        if self.replay is None:
            steady_hypothesis().target(float(reached), label=label)

    def turns(self) -> Iterable[int]:
        """The numbers of the turns that this check takes at drawing."""
        return (0,) if self.campaign is None else self.campaign.turns()

    def _each(self, strategy: SearchStrategy[Value], holds: Callable[[Value], None], turn: int) -> None:
        hypothesis = steady_hypothesis()
        broken: list[tuple[Violated, Value]] = []
        ended: list[Exception] = []

        def ask(value: Value) -> None:
            if ended:
                return
            # Toward what is large and deep: that is where parsers give up.
            for label, reached in _extent(value).items():
                self.toward(label, reached)
            try:
                holds(value)
            except Violated as violated:
                broken.append((violated, value))
                raise
            except Exception as other:
                # No claim: nothing is cut down to the smallest that does that, and nothing else is asked.
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
        # A claim that breaks once and holds the next time is broken: the last one that did is the smallest.
        with suppress(Violated, hypothesis.errors.Flaky), _known(ended):
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
def _known(ended: Sequence[Exception]) -> Iterator[None]:
    """What ended the drawing is known by then to whoever drew, and is not told twice."""
    try:
        yield
    except Exception as error:
        if error not in ended:
            raise


def _extent(value: object) -> dict[str, float]:
    """How large a value is, and how deep."""
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
def steady_hypothesis() -> Any:
    """The library, which takes half a second to load, with its caches where nobody has to clear them away.

    In a checkout it would draw texts and numbers from the source of whatever is loaded besides, too: a check
    would meet other values by itself than in a whole run, and every process would read all of that source.
    """
    import hypothesis  # noqa: PLC0415
    from hypothesis.configuration import set_hypothesis_home_dir  # noqa: PLC0415

    set_hypothesis_home_dir(Path(_home().name))
    # No setting has it. Where a later version has other names for it, it draws from there again.
    with suppress(ImportError):
        from hypothesis.internal.conjecture import providers  # noqa: PLC0415
        from hypothesis.internal.constants_ast import Constants  # noqa: PLC0415

        setattr(providers, "_get_local_constants", Constants)  # noqa: B010 - not its to hand out
    return hypothesis


@cache
def _home() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="gateproof-")
