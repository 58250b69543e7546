"""Faults have names of their own, and people find all of them on one page."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from gateproof.conformance.faults.catalogue import EVERY, table

PAGE = Path(__file__).parents[3] / "docs" / "faults.md"


def test_every_fault_has_a_name_of_its_own() -> None:
    assert [name for name, times in Counter(fault.name for fault in EVERY).items() if times > 1] == []


def test_page_lists_what_there_is() -> None:
    """After a change: what `table()` returns goes to the end of the page."""
    assert PAGE.read_text(encoding="utf-8").endswith("\n\n" + table())
