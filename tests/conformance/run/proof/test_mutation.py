"""Mutants are drawn by seed; whoever survives is judged by somebody, or makes the proof fail."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateproof.conformance.cli import main
from gateproof.conformance.run.proof.mutation.mutant_proof import FILE, MutantProof
from gateproof.conformance.run.proof.mutation.mutants import (
    Judged,
    Mutant,
    NoMutants,
    drawn,
    judged,
    mutants,
    stale,
)
from gateproof.conformance.run.proof.mutation.trials import MutantTrial

ONE = Mutant(
    file="reference/agent/state.py",
    line=3,
    function="kept",
    operator="name",
    change=("-    return True", "+    return False"),
    source="",
)
ENTRY = Judged(file=ONE.file, function=ONE.function, change=ONE.change, kind="legal", why="not shown")


def test_sample_is_the_same_for_a_seed() -> None:
    found = [replace(ONE, line=line) for line in range(50)]

    assert drawn(found, 5, 1) == drawn(found, 5, 1) != drawn(found, 5, 2)
    assert sorted(each.line for each in drawn(found, None, 1)) == list(range(50))
    assert len(drawn(found, 500, 1)) == 50


def test_entry_is_stale_once_its_mutant_cannot_be_made() -> None:
    assert stale([ENTRY], [ONE]) == []
    assert stale([ENTRY], [replace(ONE, line=9)]) == []
    assert stale([ENTRY], [replace(ONE, change=("-    return 1", "+    return 2"))]) == [ENTRY]


def test_environment_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(NoMutants, match="make prove"):
        mutants("agent", tmp_path)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--mutants", "--quick", "--only", "x"], "--mutants does not go with --only, --quick"),
        (["--sample", "3"], "--sample goes with --mutants"),
    ],
)
def test_options_of_the_other_proof_are_refused(
    given: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prove", *given]) == 2
    assert told in capsys.readouterr().err


def test_what_was_tried_is_not_tried_again(tmp_path: Path) -> None:
    def proof(**made_with: Any) -> MutantProof:
        chosen, path = [ONE, replace(ONE, line=9)], tmp_path / FILE
        return MutantProof(path, made_with={"seed": 1, **made_with}, of=2, chosen=chosen, known=[ENTRY])

    begun = proof()
    begun.trials.append(MutantTrial(mutant=ONE, caught_by="", took_s=1.0))
    assert begun.keep()["figures"]["legal"] == 1
    again = proof()
    assert again.left == [ONE, replace(ONE, line=9)]
    again.continue_from_file()
    assert again.left == [replace(ONE, line=9)]
    with pytest.raises(ValueError, match="another value of seed"):
        proof(seed=2).continue_from_file()
    with pytest.raises(ValueError, match="another value of shard"):
        proof(shard="1/2").continue_from_file()
    (tmp_path / FILE).unlink()
    with pytest.raises(ValueError, match="leave out --resume"):
        proof().continue_from_file()


@pytest.mark.needs("mutants")
@pytest.mark.parametrize("role", ["gateway", "service", "agent"])
def test_every_judged_survivor_is_a_mutant_of_today(role: str) -> None:
    entries = judged(role)

    assert not stale(entries, mutants(role, only={entry.file for entry in entries}))


@pytest.mark.needs("mutants")
def test_mutant_is_caught_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exchange = "reference/agent/policy/exchange.py"
    made = mutants("agent", only={exchange})
    assert len({(each.file, each.line, each.operator) for each in made}) > 10
    noticed = next(
        each for each in made if each.operator == "dropped_element" and '"code_verifier"' in each.change[0]
    )
    monkeypatch.setattr("gateproof.conformance.run.proof.mutation.mutants.mutants", lambda _: made)
    monkeypatch.setattr("gateproof.conformance.run.proof.mutation.mutants.drawn", lambda *_: [noticed])

    assert main(["prove", "agent", "--mutants", "--out", str(tmp_path / "out"), "--no-color"]) == 0

    document = json.loads((tmp_path / "out" / FILE).read_text())
    assert document["figures"] | {"mutants": 1} == {
        "mutants": 1,
        "tried": 1,
        "caught": 1,
        "equivalent": 0,
        "legal": 0,
        "survived": 0,
        "no_verdict": 0,
    }
    assert document["trials"][0]["caught_by"].startswith("AGENT-")
