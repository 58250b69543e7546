"""However the requests of a run fall, no second sees more of them than the rate allows."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from gateproof.conformance.wire.rate_limit import Pace, TooManyAtOnce

RATE = 20.0


class Clock:
    """Time that passes by sleeping alone."""

    def __init__(self) -> None:
        self.at = 100.0

    def now(self) -> float:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.at += seconds


def sent(folder: Path, counts: list[int]) -> list[float]:
    """When requests go out whose numbers at one moment are these."""
    clock, moments = Clock(), []
    pace = Pace(file=folder / "pace", rate=RATE, now=clock.now, sleep=clock.sleep)
    for count in counts:
        pace.take(count)
        moments += [clock.at] * count
    return moments


def most_in_a_second(moments: list[float]) -> int:
    return max(sum(start <= moment < start + 0.999 for moment in moments) for start in moments)


@pytest.mark.parametrize(
    "counts",
    [[1] * 60, [12, 12, 12], [1] * 30 + [12] + [1] * 30, [20, 1, 20], [3, 1, 1, 15, 1, 8]],
    ids=["singles", "bursts", "burst-amid-singles", "whole-seconds", "mixed"],
)
def test_no_second_sees_more_than_the_rate(counts: list[int], tmp_path: Path) -> None:
    moments = sent(tmp_path, counts)

    assert len(moments) == sum(counts)
    assert most_in_a_second(moments) <= RATE


def test_singles_use_the_rate_up(tmp_path: Path) -> None:
    moments = sent(tmp_path, [1] * 41)

    assert moments[-1] - moments[0] == pytest.approx(2.0)


def test_more_at_one_moment_than_a_second_allows_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TooManyAtOnce, match="21 requests at one moment, and --rate allows 20 a second"):
        sent(tmp_path, [21])


def test_slots_are_shared_by_all_who_have_the_file(tmp_path: Path) -> None:
    paces = [Pace(file=tmp_path / "pace", rate=1000.0) for _ in range(4)]
    begun = paces[0].now()

    takers = [threading.Thread(target=lambda pace=pace: [pace.take() for _ in range(25)]) for pace in paces]
    for taker in takers:
        taker.start()
    for taker in takers:
        taker.join()

    # A hundred slots of a millisecond, of which the last begins 99 later.
    assert paces[0].now() - begun >= 0.099
