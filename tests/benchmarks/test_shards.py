"""The computed time of a proof in shards: the busiest worker of the slowest machine."""

from __future__ import annotations

import shards

from gateproof.conformance.run.proof.implementations import subjects
from gateproof.conformance.run.proof.scope import Effort, longest_first


def test_free_worker_takes_the_next_trial() -> None:
    assert shards.wall_s([9, 4, 3, 2], workers=2) == 9
    assert shards.wall_s([4, 4, 4], workers=2) == 8
    assert shards.wall_s([2, 2, 9], workers=2) == 11
    assert shards.wall_s([], workers=2) == 0


def test_every_second_of_the_trials_is_in_one_of_the_shards() -> None:
    found = longest_first(subjects("agent"), "agent", Effort.QUICK, 1)
    took = dict.fromkeys((each.name for each in found), 2.0)

    one = shards.line_for("agent", found, took, 1, workers=8).split()
    four = shards.line_for("agent", found, took, 4, workers=8).split()

    assert one[:4] == ["1", str(2 * len(found)), str(2 * len(found)), "1.00"]
    assert float(four[1]) == round(len(found) / 2)
    assert four[4] == "2"
