"""A service that fetches key sets seldom is not waited for in vain, and one wait serves several checks."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from warm import WARM

sys.path.insert(0, str(Path(__file__).parent))
from services import HTTP, written

from gateproof.conformance.checks.service import back_keys, back_trust_keys, serve_keys
from gateproof.conformance.kit.service.key_lookups import may_discover_again, note_discovery, note_lookup
from gateproof.conformance.kit.service.world import ServiceState
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.suite import rules
from gateproof.conformance.suite.claims import LeftOut
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


WRONG_TOKENS = (
    "CHAL-05/token_of_another_issuer_under_a_new_key_shows_nothing",
    "CHAL-06/token_for_another_audience_under_a_new_key_shows_nothing",
)


def asked(folder: Path, *chosen: str, how: str = SECONDS) -> tuple[dict[str, CheckResult], Counter[str]]:
    """The results of these checks at the service, and the number of exchanges of each."""
    target = load(written(folder, [*WARM, PROGRAM, how, "--exit-with-stdin"], HTTP))
    only = tuple(sorted({each.partition("/")[0] for each in chosen}))
    options = RunOptions(role="service", seed=5, only=only, chosen=frozenset(chosen))

    result = carry_out(
        target, rules.select(rules.load().for_role("service"), only), options, lambda _: None, folder
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
    """Other checks have seen that the service goes on looking for new keys."""
    found, calls = asked(tmp_path, *WRONG_TOKENS, *NEW_KEYS)

    assert {found[check].verdict for check in NEW_KEYS} == {Verdict.PASSED}
    first, *others = (calls[check] for check in NEW_KEYS)
    # The later ones call with a known key, and once under each key that they are about.
    assert others == [2, 3]
    assert first > max(others)


def test_alone_each_check_waits_for_a_lookup_of_its_own(tmp_path: Path) -> None:
    found, calls = asked(tmp_path, *NEW_KEYS)

    assert {found[check].verdict for check in NEW_KEYS} == {Verdict.PASSED}
    assert all(calls[check] > 3 for check in NEW_KEYS)


def test_service_that_soon_fetches_no_key_set_any_more_fails_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first fetch and the next one are all that the shared wait needs."""
    # The time between two fetches is much longer than ASKS_WITHIN_S, and these are much longer than that: a
    # busy machine delays the calls.
    monkeypatch.setattr(serve_keys, "KEY_FOUND_S", 8.0)
    monkeypatch.setattr(serve_keys, "KEY_REFETCH_S", 8.0)

    found, _ = asked(tmp_path, *NEW_KEYS, how="4/2")

    assert found[NEW_KEYS[0]].verdict is Verdict.PASSED
    assert {found[check].verdict for check in NEW_KEYS[1:]} == {Verdict.FAILED}


def state_of(kept: Path, *, again: bool | None) -> Any:
    """A world that knows no more of the service than this."""
    return SimpleNamespace(service_state=ServiceState(discovers_again=again, discovery_is_kept=kept))


def test_what_another_instance_showed_counts_until_the_own_one_has_looked(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    mine, other = state_of(kept, again=None), state_of(kept, again=None)
    assert may_discover_again(mine)

    note_discovery(other, again=False)
    assert not may_discover_again(mine)
    note_discovery(mine, again=True)
    assert may_discover_again(mine)
    assert not may_discover_again(other)
    assert not kept.exists()


def test_check_stops_waiting_when_another_instance_has_shown_that_it_is_in_vain(tmp_path: Path) -> None:
    """It has already called the service with a token under a new key, and waits for the next fetch."""
    kept = tmp_path / "kept"
    world = state_of(kept, again=None)
    calls = 0

    def serve_once(token: str) -> None:
        nonlocal calls
        calls += 1
        note_discovery(state_of(kept, again=None), again=False)

    world.unseen_token = lambda _: "a token"
    world.gateway = SimpleNamespace(journal=SimpleNamespace(mark=lambda: 0, since=lambda *_: []))
    service: Any = SimpleNamespace(serve_once=serve_once)

    with pytest.raises(LeftOut, match="without asking for the discovery"):
        back_keys._asked_for_keys(service, world, Endpoint.DISCOVERY)
    with pytest.raises(LeftOut, match="seldom, or without asking for the discovery"):
        back_trust_keys._looked_for(service, world, Endpoint.DISCOVERY, 0, lambda: 0)
    assert calls == 2


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
    assert state.lookups == (Endpoint.CORE_KEYS in fetched)


@pytest.mark.parametrize(
    ("asked_for", "came", "passed_by", "together", "noted"),
    [
        (Endpoint.CORE_KEYS, False, True, False, True),
        (Endpoint.CORE_KEYS, True, False, False, False),
        # It has not looked for a key yet, or both documents have one address.
        (Endpoint.CORE_KEYS, False, False, False, None),
        (Endpoint.CORE_KEYS, True, False, True, None),
        (Endpoint.DISCOVERY, False, True, False, False),
        (Endpoint.DISCOVERY, True, True, False, None),
        (Endpoint.DISCOVERY, False, False, False, None),
    ],
)
def test_only_a_lookup_shows_what_is_fetched_for_it(
    asked_for: Endpoint, came: bool, passed_by: bool, together: bool, noted: bool | None
) -> None:
    behind = {Endpoint.DISCOVERY, Endpoint.CORE_KEYS} if together else {asked_for}
    state = ServiceState()
    world: Any = SimpleNamespace(service_state=state, listeners=SimpleNamespace(behind=lambda _: behind))

    back_trust_keys._note_what_was_fetched(world, asked_for, came=came, passed_by=passed_by)

    assert state.discovers_again is noted
