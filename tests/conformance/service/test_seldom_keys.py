"""A service that fetches key sets seldom is not waited for in vain, and one wait serves several checks."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from services import HTTP, written

from gateproof.conformance.kit.service.key_lookups import note_lookup
from gateproof.conformance.kit.service.world import ServiceState
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.suite import rules
from gateproof.conformance.targets.file import load
from gateproof.fakes.gateway.script import Endpoint
from gateproof.reports.record import FILE, read
from gateproof.reports.verdicts import CheckResult, Verdict

PROGRAM = str(Path(__file__).with_name("seldom_service.py"))
SECONDS = "1"
OUT_OF_REACH = "BACK-06/keys_out_of_reach_cost_no_more_than_a_bounded_try"
DISCOVERY = [f"{OUT_OF_REACH}[discovery, {name}]" for name in ("500", "hang", "not-json")]
NEW_KEYS = (
    "SERVE-02/added_key_is_picked_up",
    "SERVE-02/key_that_signed_before_it_was_added_is_picked_up",
    "SERVE-02/added_key_of_another_algorithm_is_picked_up",
)
KEYS = f"{OUT_OF_REACH}[core keys, 500]"


def asked(folder: Path, *chosen: str) -> tuple[dict[str, CheckResult], Counter[str]]:
    """The results of these checks at the service, and the number of exchanges of each."""
    target = load(written(folder, [sys.executable, PROGRAM, SECONDS, "--exit-with-stdin"], HTTP))
    rule = chosen[0].partition("/")[0]
    options = RunOptions(role="service", seed=5, only=(rule,), chosen=frozenset(chosen))

    result = carry_out(
        target, rules.select(rules.load().for_role("service"), (rule,)), options, lambda _: None, folder
    )

    found = {check.id: check for rule in result.rules for check in rule.checks}
    return found, Counter(each.check for each in read(folder / FILE).exchanges.values())


def test_service_that_keeps_the_discovery_document_is_not_asked_to_fetch_it(tmp_path: Path) -> None:
    """One lookup shows that it asks for the key set alone; the checks of the document end without a call."""
    found, calls = asked(tmp_path, KEYS, *DISCOVERY)

    assert found[KEYS].verdict is Verdict.PASSED
    assert {found[case].verdict for case in DISCOVERY} == {Verdict.NOT_TESTABLE}
    assert all("without asking for the discovery" in found[case].message for case in DISCOVERY)
    assert calls[KEYS] > 0
    assert [calls[case] for case in DISCOVERY] == [0, 0, 0]


def test_one_wait_for_new_keys_serves_three_checks(tmp_path: Path) -> None:
    found, calls = asked(tmp_path, *NEW_KEYS)

    assert {found[check].verdict for check in NEW_KEYS} == {Verdict.PASSED}
    first, *others = (calls[check] for check in NEW_KEYS)
    # The later ones call with a known key, and once under each key that they are about.
    assert others == [2, 3]
    assert first > max(others)


@pytest.mark.parametrize(
    ("fetched", "before", "after"),
    [
        ([], True, True),
        ([], False, False),
        ([Endpoint.DISCOVERY], False, False),
        ([Endpoint.CORE_KEYS], True, False),
        ([Endpoint.DISCOVERY, Endpoint.CORE_KEYS], False, True),
        ([Endpoint.CORE_KEYS, Endpoint.DISCOVERY], False, True),
    ],
)
def test_lookup_shows_what_the_service_fetches(fetched: list[Endpoint], before: bool, after: bool) -> None:
    calls = [SimpleNamespace(endpoint=endpoint) for endpoint in fetched]
    journal = SimpleNamespace(since=lambda mark, *_: calls if mark == 7 else [])
    state = ServiceState(discovers_again=before)
    world: Any = SimpleNamespace(gateway=SimpleNamespace(journal=journal), service_state=state)

    note_lookup(world, 7)

    assert state.discovers_again is after
