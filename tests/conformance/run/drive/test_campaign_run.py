"""A campaign as people run it ends by itself, keeps what it found, and the next machine begins with that."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from warm import WARM

HISTORY = "ROBUST-04/states_hold_over_generated_histories"
RACE = "CODE-10/one_code_gives_tokens_once[fresh-connections]"


def gateproof(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*WARM, "gateproof", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def campaign(target: Path, rule: str, out: Path, database: Path) -> dict[str, dict[str, object]]:
    """What failed in it, as it is stored: a check that has failed is over, so all of this takes no minute."""
    command = ("run", "--target", target, "--only", rule, "--profile", "campaign", "--minutes", "1")
    ran = gateproof(*command, "--out", out, "--database", database)
    assert ran.returncode == 1, ran.stdout
    found = [json.loads(file.read_text(encoding="utf-8")) for file in (out / "replay").glob("*.json")]
    return {failure["check"]: failure for failure in found}


def test_second_machine_begins_with_what_the_first_one_found(
    launched_target: Callable[..., Path], tmp_path: Path
) -> None:
    target = launched_target("gateproof.reference.defects", "gateway", "revoked-until-there-is-another")
    database = tmp_path / "database"
    first = campaign(target, "ROBUST-04", tmp_path / "first", database)[HISTORY]
    (kept,) = (database / HISTORY.replace("/", ".")).glob("*.json")
    stored = json.loads(kept.read_text(encoding="utf-8"))["steps"]
    second = campaign(target, "ROBUST-04", tmp_path / "second", database)[HISTORY]
    assert first["seed"] != second["seed"]
    repeats = [failure["repeat"] for failure in (first, second)]
    assert [repeat["steps"] for repeat in repeats if isinstance(repeat, dict)] == [stored, stored]


def test_race_of_a_campaign_is_run_again_from_its_round_on(
    launched_target: Callable[..., Path], tmp_path: Path
) -> None:
    target = launched_target("gateproof.reference.defects", "gateway", "code-marked-after-a-query")
    failed = campaign(target, "CODE-10", tmp_path / "out", tmp_path / "database")[RACE]["repeat"]
    assert isinstance(failed, dict)
    assert failed["first"] >= 0
    again = gateproof("replay", tmp_path / "out", "--check", RACE, "--target", target, "--times", "2")
    assert again.returncode == 1, again.stdout
