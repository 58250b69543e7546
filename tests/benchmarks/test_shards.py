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

    one, four = (shards.row_of("agent", found, took, of, workers=8) for of in (1, 4))

    assert one["mean"] == one["slowest"] == 2 * len(found)
    assert four["mean"] * 4 == one["mean"]
    assert four["longest"] == 2


def test_table_has_a_row_for_each_number_of_shards() -> None:
    row = {"shards": 2, "mean": 1000.0, "slowest": 1250.0, "longest": 90.0, "wall": 130.4}
    role = {"trials": 10, "workers": 8, "rows": [row]}

    lines = shards.drawn({"roles": {"agent": role, "service": role}}).splitlines()

    assert lines[0] == "Agent, 10 trials, 8 workers on each machine:"
    assert lines.count("| 2 | 1,000 | 1,250 | 1.25 | 90 | 130 |") == 2
