"""Divides the subjects of a proof into parts that take similar time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gateproof.conformance.run.drive.options import Shard
from gateproof.conformance.run.proof.implementations import Subject
from gateproof.conformance.suite.proven import Caught


def share(found: Sequence[Subject], shard: Shard, known: Mapping[str, Caught]) -> list[Subject]:
    """The subjects of one shard, in their order; every machine divides them in the same way.

    Defects, variants and combinations get different numbers of checks, so each group is divided by itself.
    The longest subject goes first to the shard with the least work.
    """
    own: set[Subject] = set()
    shared_out = [0] * shard.n
    for group in _groups(found):
        seconds = _seconds(group, known)
        loads = [0.0] * shard.n
        for subject in sorted(group, key=lambda each: (-seconds[each], each.name)):
            place = min(range(shard.n), key=lambda each: (loads[each], shared_out[each], each))
            loads[place] += seconds[subject]
            shared_out[place] += 1
            if place == shard.k - 1:
                own.add(subject)
    return [subject for subject in found if subject in own]


def _groups(found: Sequence[Subject]) -> list[list[Subject]]:
    kinds: dict[tuple[str, bool, bool], list[Subject]] = {}
    for subject in found:
        kinds.setdefault((subject.kind, subject.combined, subject.in_a_combination), []).append(subject)
    return list(kinds.values())


def _seconds(group: Sequence[Subject], known: Mapping[str, Caught]) -> dict[Subject, float]:
    """How long each trial took in the shipped proof; the mean for one that is not in it."""
    recorded = {each: known[each.name].took_s for each in group if each.name in known}
    usual = sum(recorded.values()) / len(recorded) if recorded else 1.0
    return {each: recorded.get(each) or usual for each in group}
