"""The common base of the benches of the three roles. A worker runs its checks on a bench."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence

from gateproof.conformance.kit.gateway.received import RunTotals
from gateproof.conformance.run.context.base import Context
from gateproof.conformance.run.waits import AnswerTime, waits
from gateproof.conformance.suite.pauses import Cause
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.redacted_view import mention
from gateproof.conformance.wire.redacted_view import show as show_in_full
from gateproof.conformance.wire.tracing import Tracing
from gateproof.reports.exchanges import Shown
from gateproof.reports.redaction import Redactor


class Bench(ABC):
    """One worker's state over all checks, and the record of the check that is running."""

    context: Context

    def __init__(self, context: Context) -> None:
        self.tracing = Tracing(context.run_id) if context.trace else None

    def note_begin(self, check_id: str) -> None:
        """Assigns the requests from now on to this check."""
        if self.tracing is not None:
            self.tracing.begin(check_id)

    @abstractmethod
    def begin(self, check_id: str) -> None:
        """Starts a check with an empty record."""

    @abstractmethod
    def close(self) -> None:
        """Ends what the bench has started."""

    @abstractmethod
    def whereabouts(self) -> Iterator[tuple[str, str]]:
        """The addresses of the target and the parties around it, by name, without secrets."""

    @abstractmethod
    def exchanges(self) -> Sequence[Exchange]:
        """The exchanges of the check that is running."""

    @abstractmethod
    def redactor(self) -> Redactor:
        """The redactor for the secrets of the check that is running."""

    @abstractmethod
    def survey(self) -> RunTotals:
        """The result of the search for secrets in everything that this worker has received."""

    def shown(self, redactor: Redactor, /, *, in_full: bool) -> tuple[Shown, ...]:
        """The redacted exchanges of the check: in full, or without headers and bodies."""
        if not self.context.shows_exchanges:
            return ()
        show = show_in_full if in_full else mention
        return tuple(show(exchange, redactor) for exchange in self.exchanges())

    def place_of(self, exchange: Exchange, /) -> int | None:
        """The position of the exchange in the shown ones."""
        return next((place for place, each in enumerate(self.exchanges()) if each is exchange), None)

    def owns_steps(self) -> bool:
        """False if steps may fail for reasons outside of the target."""
        return True

    def waited_s(
        self, *, took_s: float, computed_s: float, paused_s: Mapping[Cause, float]
    ) -> Mapping[str, float]:
        """What the check waited for, if it took, computed and paused so long. An agent runs all the time."""
        answers_s = took_s - computed_s - sum(paused_s.values())
        return waits(took_s=took_s, computed_s=computed_s, answers_s=answers_s, paused_s=paused_s)

    def scenario(self) -> str:
        """What was done to a target that sends requests itself, such as an agent.

        It is empty for a gateway and a service: to repeat a check, it is enough to send its requests again.
        """
        return ""


class SendingBench(Bench):
    """A bench whose checks send requests themselves, to a target that answers: a gateway or a service."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._sent: list[Exchange] = []
        self._answer_time = AnswerTime()

    def note_begin(self, check_id: str) -> None:
        super().note_begin(check_id)
        self._answer_time.reset()

    def exchanges(self) -> Sequence[Exchange]:
        return self._sent

    def forget(self) -> None:
        """Drops the exchanges of this check so far from the record; the search for secrets still has them."""
        self._sent.clear()

    def _record(self, exchange: Exchange) -> None:
        self._sent.append(exchange)
        self._answer_time.add(exchange.at_s, time.monotonic())

    def waited_s(
        self, *, took_s: float, computed_s: float, paused_s: Mapping[Cause, float]
    ) -> Mapping[str, float]:
        answers_s = self._answer_time.total_s()
        return waits(took_s=took_s, computed_s=computed_s, answers_s=answers_s, paused_s=paused_s)
