"""The harness's HTTP client: it follows no redirects, hides nothing, and records everything."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from typing import Protocol
from urllib.parse import urlsplit

from gateproof.conformance.wire.connections import Connections, NoAnswer, TooLate
from gateproof.conformance.wire.exchange import Answer, Exchange, Request
from gateproof.conformance.wire.partial_read import read_while
from gateproof.conformance.wire.pipelining import answers_in_a_row
from gateproof.conformance.wire.race import Run, Track
from gateproof.conformance.wire.route import Place, host_and_port, origin

RATE_LIMIT_BUDGET_S = 60.0
# After this many checks in a row that began with a silent target, one more request is tried.
_TRIED_AGAIN = frozenset({1, 4, 16, 64, 256})


class RateLimited(Exception):
    """The target kept answering 429, or 503 with Retry-After, for longer than the harness waits."""


class TargetSilent(Exception):
    """Several requests in a row timed out, so no more are sent: waiting for each would take hours."""


class Recorder(Protocol):
    """Receives every exchange, in the order in which they ended."""

    def __call__(self, exchange: Exchange, /) -> None: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Raced:
    """The exchanges of a race; `overlapped` if all requests were sent before the first answer came.

    Requests that were answered with a rate limit do not count. Neither do those that a busy target refused
    with 503 before the last request was complete, if at least as many others are left.
    """

    answers: tuple[Exchange, ...]
    overlapped: bool


class Wire:
    """Sends requests to the given places only."""

    def __init__(
        self,
        places: tuple[Place, ...],
        *,
        timeout_s: float,
        record: Recorder,
        sleep: Callable[[float], None] = time.sleep,
        silent_after: int = 3,
    ) -> None:
        self._places = places
        self.timeout_s = timeout_s
        self._connections = Connections(timeout_s=timeout_s)
        self._track = Track(timeout_s=timeout_s)
        self._recorder = record
        # A lock, so that recorders need not be thread-safe.
        self._recording = Lock()
        self._sleep = sleep
        self._timeouts_in_a_row = 0
        self._waited_s = 0.0
        self._silent_after = silent_after
        self._begun_in_silence = 0

    @property
    def held_back_s(self) -> float:
        """Seconds for which requests were delayed by rate limits: not the target's own time."""
        return self._waited_s + self._connections.paced_s

    def begin(self) -> None:
        """A new check starts: a silent target may be tried again, at growing intervals.

        One difficult request may have silenced it for the check before. A target that is gone costs at most
        five more timeouts.
        """
        if self._timeouts_in_a_row < self._silent_after:
            return
        self._begun_in_silence += 1
        if self._begun_in_silence in _TRIED_AGAIN:
            self._timeouts_in_a_row = self._silent_after - 1

    def close(self) -> None:
        self._connections.close()
        self._track.close()

    def close_connections(self) -> None:
        """Closes all kept connections: the next request uses a new one."""
        self._connections.close()

    @contextmanager
    def also(self, url: str, *, ca_file: str | None) -> Iterator[None]:
        """Allows requests to one more of the harness's own fakes during the block."""
        before = self._places
        suffix = next((place.own_suffix for place in before if place.own_suffix), "")
        self._places = (*before, Place(origins=frozenset({origin(url)}), ca_file=ca_file, own_suffix=suffix))
        try:
            yield
        finally:
            self._places = before

    @contextmanager
    def through(self, url: str, address: str) -> Iterator[None]:
        """During the block, connections to the host of this URL go to another address."""
        before, place = self._places, self._place(url)
        if place is None:
            raise ValueError(f"{origin(url)} is neither the target nor one of the fakes")
        self._places = (replace(place, origins=frozenset({origin(url)}), connect_to=address), *before)
        try:
            yield
        finally:
            self._places = before

    def may_reach(self, url: str) -> bool:
        """True if this run may send requests to the URL's origin."""
        return self._place(url) is not None

    def place_of(self, url: str) -> Place | None:
        """How the host of this URL is reached, for connections below HTTP."""
        return self._place(url)

    def send(self, step: str, request: Request) -> Exchange:
        """Sends one request and waits for rate limits; a missing answer is recorded as well."""
        if self._timeouts_in_a_row >= self._silent_after:
            raise TargetSilent(f"{self._timeouts_in_a_row} requests in a row got no answer in time")
        retries: list[Answer] = []
        waited, begun = 0.0, time.monotonic()
        while True:
            answer, failure = self._once(request)
            pause = asked_to_wait(answer)
            if pause is None:
                exchange = Exchange(
                    step=step,
                    request=request,
                    answer=answer,
                    failure=failure,
                    retries=tuple(retries),
                    at_s=begun,
                )
                self._record(exchange)
                return exchange
            assert answer is not None  # noqa: S101 - only an answer can ask to wait
            retries.append(answer)
            pause = max(pause, 0.1 * 2 ** min(len(retries), 6))
            if waited + pause > RATE_LIMIT_BUDGET_S:
                self._record(Exchange(step=step, request=request, answer=answer, retries=tuple(retries)))
                raise RateLimited(f"{step}: still status {answer.status} after waiting {waited:.0f} s")
            self._sleep(pause)
            waited += pause
            self._waited_s += pause

    def send_once(self, step: str, request: Request) -> Exchange:
        """Sends one request and returns the answer, even if it asks to wait."""
        begun = time.monotonic()
        answer, failure = self._once(request)
        exchange = Exchange(step=step, request=request, answer=answer, failure=failure, at_s=begun)
        self._record(exchange)
        return exchange

    def pipelined(
        self,
        step: str,
        requests: Sequence[Request],
        *,
        piece: int | None = None,
        wrote: Callable[[int], None] = lambda _: None,
    ) -> tuple[Exchange, ...]:
        """Sends requests in a row over one connection; records which got no answer because of a close.

        They are written in pieces of `piece` octets or at once; `wrote` is called for each. Requests that
        are answered with a rate limit are sent again one by one.
        """
        place = self._place(requests[0].url)
        if place is None:
            raise ValueError(f"{origin(requests[0].url)} is neither the target nor one of the fakes")
        begun = time.monotonic()
        answers = answers_in_a_row(place, requests, timeout_s=self.timeout_s, piece=piece, wrote=wrote)
        exchanges = []
        for number, request in enumerate(requests):
            answer = answers[number] if number < len(answers) else None
            failure = None if answer is not None else f"no answer after {len(answers)} on this connection"
            exchange = Exchange(step=step, request=request, answer=answer, failure=failure, at_s=begun)
            self._record(exchange)
            exchanges.append(self._unless_asked_to_wait(exchange))
        return tuple(exchanges)

    def read_while(self, step: str, request: Request, during: Callable[[], None]) -> Exchange:
        """Sends one request, and keeps what has come shortly after `during` has run."""
        place = self._place(request.url)
        if place is None:
            raise ValueError(f"{origin(request.url)} is neither the target nor one of the fakes")
        begun = time.monotonic()
        answer = read_while(place, request, during)
        failure = None if answer is not None else "no answer"
        exchange = Exchange(step=step, request=request, answer=answer, failure=failure, at_s=begun)
        self._record(exchange)
        return exchange

    def send_many(self, requests: Sequence[Request], *, at_once: int) -> int:
        """Sends many requests over several connections and counts the answers; ignores rate limits.

        After too many timeouts in a row, the remaining requests are not sent.
        """
        enough = self._timeouts_in_a_row + max(at_once, self._silent_after)

        def answered(request: Request) -> bool:
            return self._timeouts_in_a_row < enough and self._once(request)[0] is not None

        with ThreadPoolExecutor(at_once) as senders:
            number = sum(senders.map(answered, requests))
        self._reset_timeouts()
        return number

    def race(self, step: str, requests: Sequence[Request], *, kept: bool = False) -> Raced:
        """Sends requests whose last bytes go out at the same moment, each over its own connection.

        With `kept`, the connections have served a request before, if the target keeps them open. Requests
        that are answered with a rate limit are sent again one by one. What does not count as part of the race
        is said at `Raced`.
        """
        if self._timeouts_in_a_row >= self._silent_after:
            raise TargetSilent(f"{self._timeouts_in_a_row} requests in a row got no answer in time")
        entries = []
        for request in requests:
            place = self._place(request.url)
            if place is None:
                raise ValueError(f"{origin(request.url)} is neither the target nor one of the fakes")
            entries.append((replace(place, pace=None), replace(request, alone=not kept)))
        if requests and (ahead := self._place(requests[0].url)) is not None:
            ahead.go_ahead(len(requests))
        ended = self._track.run(entries)
        runs = ended.runs
        if any(run.answer is not None or not run.too_late for run in runs):
            self._reset_timeouts()
        else:
            self._timeouts_in_a_row += 1
        unlimited = [run for run in runs if asked_to_wait(run.answer) is None]
        took_part = [run for run in unlimited if not _refused_at_once(run)]
        fewest = max(2, len(unlimited) - len(took_part))
        return Raced(
            answers=tuple(
                self._raced(step, request, run) for request, run in zip(requests, runs, strict=True)
            ),
            overlapped=ended.together
            and len(took_part) >= fewest
            and not any(run.early for run in took_part),
        )

    def _raced(self, step: str, request: Request, run: Run) -> Exchange:
        """Records the exchange of one request of a race."""
        at_s, answer = run.released_at or run.begun_at, run.answer
        if answer is not None:
            answer = replace(answer, elapsed_s=max(0.0, run.begun_at + answer.elapsed_s - at_s))
        exchange = Exchange(step=step, request=request, answer=answer, failure=run.failure, at_s=at_s)
        self._record(exchange)
        return self._unless_asked_to_wait(exchange)

    def _unless_asked_to_wait(self, exchange: Exchange) -> Exchange:
        """The exchange, or the one of the same request that is sent again after a rate limit."""
        answer = exchange.answer
        if answer is None or asked_to_wait(answer) is None:
            return exchange
        again = self.send(exchange.step, exchange.request)
        return replace(again, retries=(answer, *again.retries))

    def _record(self, exchange: Exchange) -> None:
        with self._recording:
            self._recorder(exchange)

    def _reset_timeouts(self) -> None:
        self._timeouts_in_a_row = self._begun_in_silence = 0

    def _once(self, request: Request) -> tuple[Answer | None, str | None]:
        place = self._place(request.url)
        if place is None:
            raise ValueError(f"{origin(request.url)} is neither the target nor one of the fakes")
        started = time.monotonic()
        try:
            answer = self._connections.ask(place, request)
        except TooLate as late:
            if late.connected:
                self._timeouts_in_a_row += 1
            return None, f"no answer within {time.monotonic() - started:.0f} s"
        except NoAnswer as none:
            self._reset_timeouts()
            return None, str(none)
        self._reset_timeouts()
        return answer, None

    def _place(self, url: str) -> Place | None:
        try:
            where, (host, _) = origin(url), host_and_port(urlsplit(url).netloc)
        except ValueError:
            # An invalid port or IPv6 address.
            return None
        exact = next((place for place in self._places if where in place.origins), None)
        return exact or next((place.nearby() for place in self._places if host in place.hosts), None)


def _refused_at_once(run: Run) -> bool:
    """True if a target that limits how many requests it serves refused this one, and did so early."""
    return run.early and run.answer is not None and run.answer.status == 503


def asked_to_wait(answer: Answer | None) -> float | None:
    """The wait that a rate-limiting answer asks for, in seconds; None for other answers."""
    if answer is None or answer.status not in {429, 503}:
        return None
    asked = answer.header("Retry-After")
    if answer.status == 503 and asked is None:
        return None
    try:
        return max(0.0, float(asked or 0))
    except ValueError:
        return 1.0  # an HTTP date: clocks may differ, so wait shortly and try again
