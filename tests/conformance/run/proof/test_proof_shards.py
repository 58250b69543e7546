"""The shards of a proof take similar time, and joined they are the proof that one machine makes."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gateproof.conformance.cli import main
from gateproof.conformance.run.drive.options import Shard
from gateproof.conformance.run.proof.implementations import Subject, subjects, with_combinations
from gateproof.conformance.run.proof.joining import merged
from gateproof.conformance.run.proof.proof import FILE, Proof
from gateproof.conformance.run.proof.runs import Trial
from gateproof.conformance.run.proof.scope import Effort
from gateproof.conformance.run.proof.shares import share
from gateproof.conformance.suite.proven import proven
from gateproof.reports.shards import CannotMerge

QUICK = ["prove", "--quick", "--only", "exp-as-a-string", "--only", "keys-share-a-kid", "--workers", "1"]


def without_times(folder: Path) -> dict[str, Any]:
    said: dict[str, Any] = json.loads((folder / FILE).read_text())
    del said["took_s"]
    for trial in said["trials"]:
        del trial["duration_s"]
    return said


def every(role: str) -> list[Subject]:
    return with_combinations(subjects(role), 40, 1)


def stored(folder: Path, role: str, part: list[Subject], shard: str, of: int, **other: Any) -> Path:
    """A shard of a full proof in which everything was as expected."""
    trials = [
        Trial(
            subject=each,
            failed=each.rules[:1] if each.kind == "defect" else (),
            failed_checks=(),
            broken={},
            untested={},
            reason="",
            duration_s=1.0,
        )
        for each in part
    ]
    proof = Proof(
        role=role,
        effort=Effort.FULL,
        seed=1,
        trials=tuple(trials),
        complete=True,
        took_s=1.0,
        shard=shard,
        of=of,
        drawn=40,
    )
    folder.mkdir()
    (folder / FILE).write_text(json.dumps({**proof.as_json(), **other}))
    return folder


@pytest.mark.parametrize("role", ["gateway", "service", "agent"])
def test_full_proof_with_combinations_is_joined(role: str, tmp_path: Path) -> None:
    found, known = every(role), proven(role).defects
    folders = [
        stored(
            tmp_path / f"{number}", role, share(found, Shard(k=number, n=3), known), f"{number}/3", len(found)
        )
        for number in (1, 2, 3)
    ]
    trials = merged(folders).trials
    assert [each.subject.name for each in trials] == [each.name for each in found]

    lost = stored(tmp_path / "lost", role, share(found, Shard(k=3, n=3), known)[1:], "3/3", len(found))
    with pytest.raises(CannotMerge, match="the shards were divided otherwise"):
        merged([*folders[:2], lost])
    twice = share(found, Shard(k=3, n=3), known)
    double = stored(tmp_path / "twice", role, [*twice[1:], twice[-1]], "3/3", len(found))
    with pytest.raises(CannotMerge, match="was tried twice"):
        merged([*folders[:2], double])
    said = json.loads((folders[2] / FILE).read_text())
    said["trials"][0]["sources"] = "0" * 64
    (folders[2] / FILE).write_text(json.dumps(said))
    with pytest.raises(CannotMerge, match="has changed since it was tried"):
        merged(folders)


@pytest.mark.parametrize("role", ["gateway", "service", "agent"])
@pytest.mark.parametrize("of", [2, 4, 7])
def test_every_subject_is_in_one_shard(role: str, of: int) -> None:
    found, known = every(role), proven(role).defects
    parts = [share(found, Shard(k=number, n=of), known) for number in range(1, of + 1)]

    assert sorted(each.name for part in parts for each in part) == sorted(each.name for each in found)
    assert all(found.index(one) < found.index(next_) for part in parts for one, next_ in pairwise(part))


@pytest.mark.parametrize("role", ["gateway", "service", "agent"])
def test_shards_take_similar_time(role: str) -> None:
    found, known = every(role), proven(role).defects
    parts = [share(found, Shard(k=number, n=4), known) for number in range(1, 5)]
    seconds = [sum(known[each.name].took_s for each in part if each.name in known) for part in parts]

    assert max(seconds) <= 1.15 * sum(seconds) / len(seconds)
    # Variants with equally many checks are divided equally.
    for group in {effort(each) for each in found if each.kind == "variant"}:
        numbers = [sum(each.kind == "variant" and effort(each) == group for each in part) for part in parts]
        assert max(numbers) - min(numbers) <= 1


def effort(variant: Subject) -> tuple[bool, bool]:
    return variant.combined, variant.in_a_combination


def test_joined_shards_are_the_proof_of_one_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, one, two, out = (tmp_path / name for name in ("whole", "one", "two", "out"))
    assert main([*QUICK, "--out", str(whole)]) == 0
    for number, folder in enumerate((one, two), 1):
        assert main([*QUICK, "--out", str(folder), "--shard", f"{number}/2"]) == 0
    assert len(without_times(one)["trials"]) == 1
    capsys.readouterr()

    assert main(["merge", str(two), str(one), "--out", str(out)]) == 0
    assert "2 of 2 defects caught" in capsys.readouterr().out
    assert without_times(out) == without_times(whole)

    said = json.loads((two / FILE).read_text())
    (two / FILE).write_text(json.dumps({**said, "trials": [{**said["trials"][0], "fault": "not caught"}]}))
    assert main(["merge", str(two), str(one), "--out", str(out)]) == 1
    (two / FILE).write_text(json.dumps({**said, "sources": "0" * 64}))
    assert main(["merge", str(two), str(one), "--out", str(out)]) == 2
    assert "another" in capsys.readouterr().err
    (two / FILE).write_text(json.dumps({**said, "complete": False}))
    with pytest.raises(CannotMerge, match="continue it with --resume"):
        merged([one, two])
    assert main(["merge", str(one), str(out)]) == 2
    assert main(["merge", str(one), str(two), "--format", "html"]) == 2


def test_shard_is_continued_by_its_own_name_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / FILE).write_text(json.dumps({"shard": "1/2", "trials": [], "took_s": 1.0}))

    assert main([*QUICK, "--out", str(tmp_path), "--resume", "--shard", "2/2"]) == 2
    assert "is another shard" in capsys.readouterr().err


def test_part_of_a_proof_is_not_shipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "--ship", "--shard", "1/2", "--out", str(tmp_path)]) == 2
    assert "merge the shards" in capsys.readouterr().err


def mutants_of(folder: Path, shard: str, *trials: dict[str, str], **other: Any) -> Path:
    folder.mkdir()
    made = {"schema": "gateproof/mutants/1", "role": "agent", "seed": 1, "sample": None, "sources": "0"}
    said = {**made, "shard": shard, "complete": True, "took_s": 2.0, "figures": {"mutants": 9}}
    (folder / "mutants.json").write_text(json.dumps({**said, "trials": trials, **other}))
    return folder


CAUGHT = {"caught_by": "AGENT-01/x", "judged": ""}


def test_joined_mutants_are_counted_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = mutants_of(tmp_path / "one", "1/2", CAUGHT, {"caught_by": "", "judged": "legal"})
    two = mutants_of(tmp_path / "two", "2/2", CAUGHT)
    bad = mutants_of(tmp_path / "bad", "2/2", {"caught_by": "", "judged": ""})
    other = mutants_of(tmp_path / "other", "2/2", CAUGHT, seed=2)
    out = tmp_path / "out"

    assert main(["merge", str(two), str(one), "--out", str(out)]) == 0
    assert "3 of 9 mutants tried: 2 caught, 0 equivalent, 1 legal, 0 survived" in capsys.readouterr().out
    assert len(json.loads((out / "mutants.json").read_text())["trials"]) == 3
    assert main(["merge", str(one), str(bad), "--out", str(out)]) == 1
    assert main(["merge", str(one), str(other), "--out", str(out)]) == 2
    assert "other: has another seed than" in capsys.readouterr().err
