"""Plays one history: each step is executed, judged and described."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from gateproof.conformance.histories import model, planning
from gateproof.conformance.histories.capabilities import Offer
from gateproof.conformance.histories.driver import Driver, Impossible
from gateproof.conformance.histories.model import in_words
from gateproof.conformance.histories.observation import CRASHED, TROUBLE, Seen
from gateproof.conformance.histories.state import State
from gateproof.conformance.histories.steps import Approve, Authorize, Exchange, History, Redeem, Step
from gateproof.conformance.kit.gateway.worker_state import WorkerState
from gateproof.conformance.suite.claims import Unavailable, require
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import BREAKER_S
from gateproof.conformance.targets.control import Unsupported

# Results that may change later, after background provisioning or a back-off.
_NOT_YET = {"404", "410", "5xx"}
_PAUSE_S = 0.2
_RETRY_S = 5.0
# Answers of a gateway in a back-off.
_IN_BACKOFF = {"404", "5xx"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Violation:
    """The last step of a history had a result that the state table does not allow."""

    history: History
    said: tuple[str, ...]
    came: str
    allowed: frozenset[str]

    @property
    def got(self) -> str:
        return self.said[-1]

    @property
    def expected(self) -> str:
        return in_words(self.allowed)

    def is_like(self, other: Violation) -> bool:
        """True if the same kind of step had the same result, and similar results were allowed."""
        kinds = {type(each.history[-1]) for each in (self, other)}
        together = self.allowed & other.allowed or self.allowed == other.allowed
        return len(kinds) == 1 and self.came == other.came and bool(together)


@dataclass(kw_only=True, slots=True)
class Play:
    """A history in progress: its steps, the text about each, and the state."""

    driver: Driver
    state: State
    worker_state: WorkerState = field(default_factory=WorkerState)
    steps: list[Step] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    rows: Counter[str] = field(default_factory=Counter)
    # Until when a refused redemption is retried (monotonic clock).
    _retry_until: float = float("-inf")
    _backoff_until: float = float("-inf")

    def take(self, step: Step) -> tuple[Seen, Violation | None]:
        """Executes a step; returns its result and a violation, if there is one."""
        seen = self.driver.take(step, awaits=_awaits(self.state, step))
        troubled = _is_troubled(seen)
        if troubled:
            self._allow_retries()
        judged = model.judge(self.state, step, seen)
        again = seen
        while judged.state is None and seen.came in _NOT_YET and self._may_wait(step, again):
            wait_for(Cause.PROVISIONING, _PAUSE_S)
            again = self.driver.take(step)
            if not troubled and _is_troubled(again):
                # Only once per step: otherwise a gateway that never recovers would make this endless.
                troubled = True
                self._allow_retries()
            seen = Seen(
                came=again.came,
                said=again.said,
                at=again.at,
                heard=(*seen.heard, *again.heard),
                until=again.until,
                token=again.token,
            )
            judged = model.judge(self.state, step, seen)
        if seen.came == CRASHED:
            # A crash where no code is allowed is for another rule.
            require.that(
                "code" in judged.allowed, "sign-in", expected="a clear end of the sign-in", got=seen.said
            )
        self.steps.append(step)
        self.said.append(seen.said)
        if judged.state is None:
            violation = Violation(
                history=tuple(self.steps), said=tuple(self.said), came=seen.came, allowed=judged.allowed
            )
            return seen, violation
        self.state = judged.state
        self.rows.update(judged.rows)
        return seen, None

    def _allow_retries(self) -> None:
        now, patience_s = time.monotonic(), self.driver.patience_s
        self.worker_state.note_merchant_failure()
        self._retry_until = now + min(_RETRY_S, patience_s)
        # During shrinking, waits are short.
        self._backoff_until = now + (BREAKER_S if patience_s >= _RETRY_S else patience_s)

    def _may_wait(self, step: Step, last: Seen) -> bool:
        retry_until = max(self._retry_until, self.driver.signed_in_at + self.driver.patience_s)
        if last.came in _IN_BACKOFF and not last.heard:
            retry_until = max(retry_until, self._backoff_until)
        return isinstance(step, Redeem) and time.monotonic() < retry_until


def _is_troubled(seen: Seen) -> bool:
    """True if the merchant failed."""
    return any(heard.result in TROUBLE for heard in seen.heard)


def _awaits(state: State, step: Step) -> bool:
    """True for a sign-in after which a merchant call is expected."""
    return state.facts.hears and isinstance(step, Authorize)


def repeat(play: Play, history: Sequence[Step]) -> Violation | None:
    """Plays a given history up to its first violation; None if a step is impossible."""
    for step in history:
        if not is_possible(play.state, step):
            return None
        try:
            _, violation = play.take(step)
        except Impossible:
            return None
        if violation is not None:
            return violation
    return None


def is_possible(state: State, step: Step) -> bool:
    """False for a step that depends on a code or token that does not exist."""
    match step:
        case Approve():
            # Operators see an agent only after its first attempt.
            return (step.agent, step.project) in state.pending
        case Exchange():
            return state.codes[step.code].stands != "nothing"
        case Redeem():
            there = state.codes[step.code].stands == "tokens"
            return there and state.tokens[step.token].client is not None
    return True


def play_random(
    play: Play, offer: Offer, memory: planning.Memory, rng: Random, *, steps: int, probes: int
) -> tuple[Violation | None, Step | None]:
    """Plays a randomly chosen history, and tests at its end what should be unchanged.

    If the target does not offer a step, the history ends, and the step is returned.
    """
    memory.begin()
    for step, place in _choose_steps(play, offer, memory, rng, steps=steps, probes=probes):
        try:
            seen, violation = play.take(step)
        except Impossible:
            break
        except (Unavailable, Unsupported):
            return None, step
        if violation is not None:
            return violation, None
        memory.note(step, seen, place)
    return None, None


def _choose_steps(
    play: Play, offer: Offer, memory: planning.Memory, rng: Random, *, steps: int, probes: int
) -> Iterator[tuple[Step, Hashable]]:
    for _ in range(steps):
        drawn = planning.next_step(play.state, offer, memory, rng)
        if drawn is None:
            break
        yield drawn
    for step in planning.probes(play.state, probes):
        yield step, "probe"
