"""One history as it is played: each step taken, judged, and put into words."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from gateproof.conformance.histories import model, planning
from gateproof.conformance.histories.capabilities import Offer
from gateproof.conformance.histories.driver import Impossible, Player
from gateproof.conformance.histories.model import in_words
from gateproof.conformance.histories.observation import CRASHED, TROUBLE, Seen
from gateproof.conformance.histories.state import State
from gateproof.conformance.histories.steps import Approve, Authorize, Exchange, History, Redeem, Step
from gateproof.conformance.kit.gateway.worker_state import WorkerState
from gateproof.conformance.suite.claims import Unavailable, require
from gateproof.conformance.suite.time_limits import BREAKER_S
from gateproof.conformance.targets.control import Unsupported

# What a later try may mend: provisioning in the background, and a gateway that spares a merchant in trouble.
_NOT_YET = {"404", "410", "5xx"}
_PAUSE_S = 0.2
_CAUTION_S = 5.0
# What a gateway answers that leaves its merchant in peace after trouble.
_IN_PEACE = {"404", "5xx"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Surprise:
    """The last step of a history came to something that the state table does not allow."""

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

    def is_like(self, other: Surprise) -> bool:
        """True when the same kind of step came to the same, and much the same was allowed."""
        kinds = {type(each.history[-1]) for each in (self, other)}
        together = self.allowed & other.allowed or self.allowed == other.allowed
        return len(kinds) == 1 and self.came == other.came and bool(together)


@dataclass(kw_only=True, slots=True)
class Play:
    """A history under way: its steps so far, what was said to each, and the state it is in."""

    player: Player
    state: State
    standing: WorkerState = field(default_factory=WorkerState)
    steps: list[Step] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    rows: Counter[str] = field(default_factory=Counter)
    # Until when a refusal may be mended by waiting, on a steady clock.
    _mended_by: float = float("-inf")
    _spared_by: float = float("-inf")

    def take(self, step: Step) -> tuple[Seen, Surprise | None]:
        """Takes one more step, and tells if it came to what it may not."""
        seen = self.player.take(step, awaits=_awaits(self.state, step))
        troubled = _is_troubled(seen)
        if troubled:
            self._grow_cautious()
        judged = model.judge(self.state, step, seen)
        again = seen
        while judged.state is None and seen.came in _NOT_YET and self._may_wait(step, again):
            time.sleep(_PAUSE_S)
            again = self.player.take(step)
            if not troubled and _is_troubled(again):
                # Once a step: a gateway that never gets over it would be waited for without end.
                troubled = True
                self._grow_cautious()
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
            # Where there is to be no code, a crash is another rule's matter, and proves nothing here.
            require.that("code" in judged.allowed, "sign-in", expected="an end to be judged", got=seen.said)
        self.steps.append(step)
        self.said.append(seen.said)
        if judged.state is None:
            surprise = Surprise(
                history=tuple(self.steps), said=tuple(self.said), came=seen.came, allowed=judged.allowed
            )
            return seen, surprise
        self.state = judged.state
        self.rows.update(judged.rows)
        return seen, None

    def _grow_cautious(self) -> None:
        now, patience_s = time.monotonic(), self.player.patience_s
        self.standing.note_trouble()
        self._mended_by = now + min(_CAUTION_S, patience_s)
        # Whoever cuts a history down has no patience for that.
        self._spared_by = now + (BREAKER_S if patience_s >= _CAUTION_S else patience_s)

    def _may_wait(self, step: Step, last: Seen) -> bool:
        mended_by = max(self._mended_by, self.player.signed_in_at + self.player.patience_s)
        if last.came in _IN_PEACE and not last.heard:
            mended_by = max(mended_by, self._spared_by)
        return isinstance(step, Redeem) and time.monotonic() < mended_by


def _is_troubled(seen: Seen) -> bool:
    """True where the merchant was heard to fail."""
    return any(heard.result in TROUBLE for heard in seen.heard)


def _awaits(state: State, step: Step) -> bool:
    """True for a sign-in after which the merchant ought to hear of the user."""
    return state.ground.hears and isinstance(step, Authorize)


def repeat(play: Play, history: Sequence[Step]) -> Surprise | None:
    """Plays a given history up to its first surprise; one that cannot be played has none."""
    for step in history:
        if not is_possible(play.state, step):
            return None
        try:
            _, surprise = play.take(step)
        except Impossible:
            return None
        if surprise is not None:
            return surprise
    return None


def is_possible(state: State, step: Step) -> bool:
    """False for what stands on a code or a token that is not there."""
    match step:
        case Approve():
            # Operators see agents that have tried.
            return (step.agent, step.project) in state.pending
        case Exchange():
            return state.codes[step.code].stands != "nothing"
        case Redeem():
            there = state.codes[step.code].stands == "tokens"
            return there and state.tokens[step.token].client is not None
    return True


def wander(
    play: Play, offer: Offer, memory: planning.Memory, rng: Random, *, steps: int, probes: int
) -> tuple[Surprise | None, Step | None]:
    """Plays a history that is made up on the way, and asks at its end what should have stayed.

    A step that the target turns out not to offer ends the history, and is told.
    """
    memory.begin()
    for step, place in _way(play, offer, memory, rng, steps=steps, probes=probes):
        try:
            seen, surprise = play.take(step)
        except Impossible:
            break
        except (Unavailable, Unsupported):
            return None, step
        if surprise is not None:
            return surprise, None
        memory.note(step, seen, place)
    return None, None


def _way(
    play: Play, offer: Offer, memory: planning.Memory, rng: Random, *, steps: int, probes: int
) -> Iterator[tuple[Step, Hashable]]:
    for _ in range(steps):
        drawn = planning.next_step(play.state, offer, memory, rng)
        if drawn is None:
            break
        yield drawn
    for step in planning.probes(play.state, probes):
        yield step, "probe"
