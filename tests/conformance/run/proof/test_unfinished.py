"""A proof goes on where it was, if it holds so far and was made with the same sources."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gateproof.conformance.run.proof import digests
from gateproof.conformance.run.proof.implementations import Subject, subjects
from gateproof.conformance.run.proof.resume import NotTheSame, trials_of
from gateproof.conformance.run.proof.scope import Effort


@cache
def tried() -> list[Subject]:
    return subjects("gateway", ["exp-as-a-string", "keys-share-a-kid"])


def trial(subject: Subject, **other: Any) -> dict[str, Any]:
    failed = [f"{subject.rules[0]}/check"]
    said = {"kind": subject.kind, "name": subject.name, "failed": list(subject.rules[:1])}
    said["sources"] = digests.of(subject)
    return {**said, "failed_checks": failed, "fault": "", "duration_s": 1.5, **other}


def stored(folder: Path, *trials: dict[str, Any], **other: Any) -> Path:
    said = {"role": "gateway", "effort": "full", "seed": 7, "sources": digests.of_the_suite(), "took_s": 30.0}
    path = folder / "prove.json"
    path.write_text(json.dumps({**said, "trials": list(trials), **other}))
    return path


def resumed(path: Path) -> tuple[list[str], float]:
    found, took_s = trials_of(path, tried(), role="gateway", effort=Effort.FULL, seed=7)
    assert not any(each.fault() for each in found)
    return [each.subject.name for each in found], took_s


def test_what_was_tried_is_not_tried_again(tmp_path: Path) -> None:
    first, _ = tried()

    assert resumed(stored(tmp_path, trial(first))) == ([first.name], 30.0)


def test_what_was_at_fault_is_not_tried_until_it_is_not(tmp_path: Path) -> None:
    first, second = tried()

    with pytest.raises(
        NotTheSame, match=f"does not hold .{first.name}: not caught by CLAIM-05.: start a new one"
    ):
        resumed(stored(tmp_path, trial(first, fault="not caught by CLAIM-05"), trial(second)))


def test_what_is_another_by_now_is_tried_again(tmp_path: Path) -> None:
    first, second = tried()
    before = trial(first, fault="not caught by CLAIM-05", sources="0" * 64)

    assert resumed(stored(tmp_path, before, trial(second)))[0] == [second.name]


@pytest.mark.parametrize(
    "fault", ["a race did not overlap: CODE-10/x", "times were unclear: ROBUST-03/x"], ids=["race", "times"]
)
def test_trial_that_decided_nothing_is_tried_again(tmp_path: Path, fault: str) -> None:
    first, second = tried()
    in_vain = trial(first, fault=fault)

    assert resumed(stored(tmp_path, in_vain, trial(second)))[0] == [second.name]


def test_subjects_are_made_of_their_own_files_and_those_that_these_take_from() -> None:
    """One of another file has other sources; what both stand on is in both."""
    exp, kid = tried()
    (variant,) = subjects("gateway", ["redirects-by-303"])

    assert len({digests.of(exp), digests.of(kid), digests.of(variant)}) == 3


def test_what_was_declared_since_is_not_tried_again(tmp_path: Path) -> None:
    first, _ = tried()

    assert resumed(stored(tmp_path, trial(first, fault="undeclared: CLAIM-99")))[0] == [first.name]


def test_what_is_still_undeclared_does_not_hold(tmp_path: Path) -> None:
    first, _ = tried()
    failed = [*first.rules[:1], "CLAIM-99"]

    with pytest.raises(NotTheSame, match=r"does not hold .*undeclared: CLAIM-99.: start a new one"):
        resumed(stored(tmp_path, trial(first, failed=failed, fault="undeclared: CLAIM-99")))


def test_what_is_not_asked_for_is_left_out(tmp_path: Path) -> None:
    assert resumed(stored(tmp_path, trial(tried()[0], name="of another selection")))[0] == []


@pytest.mark.parametrize(
    "other", [{"role": "agent"}, {"effort": "quick"}, {"seed": 8}, {"sources": "0" * 64}]
)
def test_another_proof_is_not_gone_on_with(tmp_path: Path, other: dict[str, Any]) -> None:
    (name,) = other
    with pytest.raises(NotTheSame, match=f"another value of {name}"):
        resumed(stored(tmp_path, trial(tried()[0]), **other))


def test_no_proof_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(NotTheSame, match="there is no proof"):
        resumed(tmp_path / "prove.json")
