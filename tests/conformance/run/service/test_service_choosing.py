"""In one process, what the checks of a service wait for passes while others run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gateproof.conformance.run.context.embedded import embedded_reference
from gateproof.conformance.run.drive import plugin
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out, planned
from gateproof.conformance.run.service.choosing import Choosing
from gateproof.conformance.suite import rules
from gateproof.conformance.suite.check import Check
from gateproof.conformance.suite.turn import Turn
from gateproof.fakes.gateway.script import Endpoint
from gateproof.reports.verdicts import CheckResult

FIRST, END, KEY, ANY = Turn.FIRST_CALLS, Turn.END_OF_A_PROXY_TOKEN, Turn.NEW_KEY, Turn.ANY
LIFE_S, COOL_DOWN_S = 90.0, 30.0


def check(rule: str, turn: Turn = ANY, *needs: str, number: int = 0) -> Check:
    return Check(rule=rule, name=f"check_{number}", needs=needs, cases=(), turn=turn)


CHECKS = [
    check("SECRET-05"),
    check("BACK-03", END),
    *(check("BACK-06", KEY, "faults", number=number) for number in range(3)),
    *(check("BACK-01", number=number) for number in range(40)),
    *(check("CHAL-05", KEY, number=number) for number in range(3)),
    *(check("CHAL-01", number=number) for number in range(10)),
    check("BACK-06", FIRST),
]


@dataclass
class Played:
    """A service with a cool-down that renews its Proxy token so long before the end, in a time of its own."""

    ahead_s: float = 0.0
    cool_down_s: float = COOL_DOWN_S
    next_life_s: float = LIFE_S
    each_s: float = 1.0
    at_s: float = 0.0
    pauses: list[tuple[Turn, float]] = field(default_factory=list)
    fetches: list[Any] = field(default_factory=list)
    tokens: list[Any] = field(default_factory=list)
    order: list[Check] = field(default_factory=list)

    @property
    def waited_s(self) -> float:
        return sum(pause for _, pause in self.pauses)

    def run(self, checks: Sequence[Check] = CHECKS) -> Played:
        journal = SimpleNamespace(since=lambda *_: self.fetches)
        gateway: Any = SimpleNamespace(journal=journal, proxy_tokens=self.tokens)
        choosing = Choosing(checks, lambda check: check, gateway, now=lambda: self.at_s)
        while (chosen := choosing.next()) is not None:
            self.order.append(chosen)
            self._carry_out(chosen)
        return self

    def _carry_out(self, chosen: Check) -> None:
        if chosen.turn is KEY and self.fetches:
            self._wait_until(KEY, self.fetches[-1].at_s + self.cool_down_s)
        if chosen.turn is END and self.tokens:
            self._wait_until(END, self.tokens[-1].announced_expiry)
        self.at_s += self.each_s
        if chosen.turn in {FIRST, KEY}:
            self.fetches.append(SimpleNamespace(at_s=self.at_s, endpoint=Endpoint.CORE_KEYS))
        if not self.tokens or self.at_s >= self.tokens[-1].announced_expiry - self.ahead_s:
            ended = any(check.turn is END for check in self.order)
            life_s = self.next_life_s if ended else LIFE_S
            self.tokens.append(SimpleNamespace(life_s=life_s, announced_expiry=self.at_s + life_s))

    def _wait_until(self, turn: Turn, moment: float) -> None:
        self.pauses.append((turn, max(0.0, moment - self.at_s)))
        self.at_s = max(self.at_s, moment)


def test_all_checks_are_chosen_once_first_calls_first_and_the_log_last() -> None:
    order = Played().run().order

    assert sorted(map(id, order)) == sorted(map(id, CHECKS))
    assert order[0].turn is FIRST
    assert order[-1].rule == "SECRET-05"


def test_checks_run_while_the_first_proxy_token_grows_old() -> None:
    """They leave it alone; what refuses a Proxy token comes after the end of the first."""
    order = Played().run().order

    before = order[1 : [check.turn for check in order].index(END)]
    assert {check.family for check in before} == {"chal"}
    assert all("faults" not in check.needs for check in before)
    assert sum(check.turn is KEY for check in before) > 1


def test_checks_run_while_the_next_proxy_token_grows_old() -> None:
    """The service in this test gets tokens with a short lifetime only, as one that goes by it does."""
    order = Played().run([*CHECKS, check("BACK-03", END, number=1)]).order

    first, second = (place for place, check in enumerate(order) if check.turn is END)
    assert KEY in {check.turn for check in order[first:second]}
    assert {check.family for check in order[first + 1 : second]} <= {"chal", "meta"}


def test_ends_follow_each_other_if_the_next_token_lives_for_an_hour() -> None:
    played = Played(next_life_s=3600.0).run([*CHECKS, check("BACK-03", END, number=1)])

    first, second = (place for place, check in enumerate(played.order) if check.turn is END)
    assert second == first + 1


def test_key_is_added_when_the_next_fetch_is_due() -> None:
    """With enough to do otherwise, no check waits for the service's next fetch of the key set."""
    played = Played(each_s=5.0).run()

    assert not any(pause for turn, pause in played.pauses if turn is KEY)


@pytest.mark.parametrize("ahead_s", [0.0, 10.0, 30.0, 60.0])
def test_end_of_the_token_is_waited_for_before_it_is_renewed(ahead_s: float) -> None:
    """Whoever renews long before the end shows that by the first renewal."""
    played = Played(ahead_s=ahead_s, each_s=3.0).run([*CHECKS, *(check("META-01"),) * 60])

    (waited_s,) = (pause for turn, pause in played.pauses if turn is END)
    assert waited_s <= ahead_s + 25.0


def test_service_without_a_cool_down_and_without_tokens_is_not_waited_for() -> None:
    played = Played(cool_down_s=0.0)
    played.run([each for each in CHECKS if each.turn is not END])

    assert played.waited_s == 0.0


class Backwards(Choosing[Any]):
    """Takes the last check first."""

    def __init__(self, items: Sequence[Any], *_: Any) -> None:
        self._left = list(items)

    def next(self) -> Any:
        return self._left.pop() if self._left else None


@pytest.mark.parametrize(("options", "chooses"), [({}, True), ({"shuffle": True}, False)])
def test_one_process_runs_what_is_chosen_next(
    options: dict[str, Any], chooses: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shuffled order depends on the seed alone."""
    taken: list[int] = []

    def begun(*given: Any) -> Backwards:
        taken.append(len(given[0]))
        return Backwards(*given)

    monkeypatch.setattr(plugin, "Choosing", begun)
    results: list[CheckResult] = []
    rule = rules.load()["META-01"]

    carry_out(
        embedded_reference("service", "http"),
        [rule],
        RunOptions(role="service", seed=1, **options),
        results.append,
        tmp_path,
    )

    ids = [result.id for result in results]
    assert len(ids) > 1
    assert taken == ([len(ids)] if chooses else [])
    if chooses:
        assert ids == planned([rule], "service")[::-1]
