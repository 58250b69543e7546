"""Faults have names of their own."""

from __future__ import annotations

from collections import Counter

from gateproof.conformance.faults.catalogue import EVERY


def test_every_fault_has_a_name_of_its_own() -> None:
    assert [name for name, times in Counter(fault.name for fault in EVERY).items() if times > 1] == []
