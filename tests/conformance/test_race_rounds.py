"""Checks that run races have as many rounds as make it rare that a shipped loser of the race is missed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scripts import imported

from gateproof.conformance.checks import races

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "races.py"
measuring = imported("measured_races", BENCHMARK)
MEASURED: dict[str, list[dict[str, Any]]] = json.loads(measuring.RATES.read_text(encoding="utf-8"))


@pytest.mark.parametrize("role", ["gateway", "service"])
def test_rounds_make_a_miss_rarer_than_one_in_ten_thousand(role: str) -> None:
    """Of the checks that catch a defect, one at least has enough rounds for it by itself."""
    stated = {case: check.rounds for check in races(role) for case in check.ids()}
    found: dict[str, list[bool]] = {}
    for row in measuring.pooled(MEASURED):
        if row["role"] == role:
            found.setdefault(row["defect"], []).append(stated[row["check"]] >= row["rounds"])
    assert found
    assert [defect for defect, enough in found.items() if not any(enough)] == []


def test_every_loser_that_ships_was_measured_quiet_and_busy() -> None:
    losers = {(role, subject.name) for role in measuring.ROLES for subject, _ in measuring.losers(role)}
    for name in ("quiet", "busy"):
        assert {(row["role"], row["defect"]) for row in MEASURED[name]} == losers


@pytest.mark.parametrize(("seen", "tries", "rounds"), [(40, 40, 4), (38, 40, 5), (7, 20, 48), (300, 300, 2)])
def test_rounds_follow_from_the_lower_end_of_the_rates(seen: int, tries: int, rounds: int) -> None:
    assert measuring.rounds_for(seen, tries) == rounds
    assert (1 - measuring.lower_bound(seen, tries)) ** rounds < measuring.MISS
