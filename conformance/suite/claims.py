"""The verbs of a check: `require` what it builds on, `expect` what the rule says, `observe` the rest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from gateproof.conformance.suite.fault import Fault
from gateproof.conformance.wire.exchange import NOT_JSON, Exchange


class Broken(Exception):
    """A claim that does not hold. Its texts are raw: they are shown through the redactor only.

    The exchange is there where the claim was about an answer as a whole.
    """

    def __init__(self, *, what: str, expected: str, got: str, exchange: Exchange | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.expected = expected
        self.got = got
        self.exchange = exchange


class Unmet(Broken):
    """A precondition does not hold: the rule could not be tested here."""


class Violated(Broken):
    """The rule does not hold."""


class Unavailable(Exception):
    """The target does not offer what a check needs."""

    def __init__(self, need: str, reason: str) -> None:
        super().__init__(reason)
        self.need = need
        self.reason = reason


class LeftOut(Exception):
    """A part of a rule that a legal choice of the target leaves out; the rest of the rule still counts."""


class NeverFired(Exception):
    """A fault stood where the target came by, and did nothing: what the check saw proves nothing."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(f"the fault {fault.name} never fired between {fault.hop.value}")


class NoOverlap(Exception):
    """A race was run as often as there was time for, and its requests were too seldom under way together."""


class TimesUnclear(Exception):
    """The times that a check compares are too long or too uneven to decide anything."""


@dataclass(slots=True)
class Tally:
    """How often a check claimed or observed something: one that did neither has shown nothing.

    What is `attached` to a claim is for whoever reads that it does not hold. `fired` counts faults,
    `overlaps` says of each race whether its requests overlapped, and `replay` is what repeats a failure.
    """

    expected: int = 0
    observed: dict[str, Any] = field(default_factory=dict)
    attached: dict[str, Any] = field(default_factory=dict)
    fired: dict[Fault, int] = field(default_factory=dict)
    overlaps: list[bool] = field(default_factory=list)
    replay: dict[str, Any] | None = None


_TALLY: ContextVar[Tally] = ContextVar("gateproof_tally")


@contextmanager
def tallying() -> Iterator[Tally]:
    """Counts the claims that are made inside the block."""
    tally = Tally()
    token = _TALLY.set(tally)
    try:
        yield tally
    finally:
        _TALLY.reset(token)


@dataclass(frozen=True, slots=True)
class AnswerClaim:
    """Claims about one answer; each returns something to go on with."""

    exchange: Exchange
    verb: Verb

    def status(self, *allowed: int) -> Exchange:
        """The answer has one of these statuses."""
        wanted = " or ".join(map(str, allowed))
        self._hold(self.exchange.status in allowed, f"status {wanted}")
        return self.exchange

    def refused(self) -> Exchange:
        """The answer is a refusal: a status from 400 to 499, not silence and not a crash."""
        status = self.exchange.status
        self._hold(status is not None and 400 <= status < 500, "a refusal (a 4xx status)")
        return self.exchange

    def not_granted(self, what: str, *members: str) -> Exchange:
        """The answer is a refusal, and none of these members came with it."""
        self.refused()
        came = [name for name in members if self.exchange.member(name) is not None]
        self.verb.that(
            not came,
            f"{self.exchange.step}: a refusal that carries {what} all the same",
            expected=f"no {' and no '.join(members)}",
            got=f"members {', '.join(came)}",
        )
        return self.exchange

    def json_object(self) -> dict[str, Any]:
        """The body is a JSON object."""
        document = self.exchange.json()
        if isinstance(document, dict):
            return document
        found = document if document is NOT_JSON else f"JSON {type(document).__name__}"
        self._hold(False, "a JSON object in the body", f"{self.exchange.outcome()} with {found}")
        raise AssertionError("unreachable")

    def _hold(self, holds: bool, expected: str, got: str | None = None) -> None:
        found = got or self.exchange.outcome()
        self.verb.that(holds, self.exchange.step, expected=expected, got=found, exchange=self.exchange)


@dataclass(frozen=True, slots=True)
class Verb:
    """One of `require` and `expect`: the same claims, another meaning when they break."""

    breaks_as: type[Broken]

    def __call__(self, exchange: Exchange) -> AnswerClaim:
        return AnswerClaim(exchange, self)

    def that(
        self, holds: bool, what: str, *, expected: str, got: object, exchange: Exchange | None = None
    ) -> None:
        """The claim named by `what` holds."""
        if self.breaks_as is Violated:
            _TALLY.get().expected += 1
        if not holds:
            raise self.breaks_as(what=what, expected=expected, got=_shown(got), exchange=exchange)

    def equal(self, got: object, expected: object, what: str) -> None:
        """The two are equal, and of one type: `True` is not 1."""
        self.that(got == expected and type(got) is type(expected), what, expected=_shown(expected), got=got)

    def text(self, got: object, what: str) -> str:
        """The value is a string with something in it."""
        self.that(isinstance(got, str) and got != "", what, expected="a non-empty string", got=got)
        return str(got)


require = Verb(Unmet)
expect = Verb(Violated)


@contextmanager
def rule_requires() -> Iterator[None]:
    """What a check builds on inside the block is what its rule says: without it, the rule does not hold."""
    _TALLY.get().expected += 1
    try:
        yield
    except Unmet as unmet:
        raise Violated(
            what=unmet.what, expected=unmet.expected, got=unmet.got, exchange=unmet.exchange
        ) from unmet


def observe(**facts: object) -> None:
    """Records what the spec leaves open. Values must be safe to show: statuses, names, counts, yes or no."""
    _TALLY.get().observed.update({name: _plain(fact) for name, fact in facts.items()})


def attach(**documents: object) -> None:
    """Puts JSON beside the claims that follow: it is shown, redacted, if one of them does not hold."""
    _TALLY.get().attached.update(documents)


def count_fault(fault: Fault, times: int) -> None:
    """Counts how often a fault struck; one that never did makes the check an error.

    A target that never came to where the fault stood is another matter: a `require`, or a part left out.
    """
    tally = _TALLY.get()
    tally.fired[fault] = tally.fired.get(fault, 0) + times
    if tally.fired[fault] < 1:
        raise NeverFired(fault)


def overlapped(holds: bool) -> None:
    """Notes of a race whether its requests were all under way before the first answer to one of them came."""
    _TALLY.get().overlaps.append(holds)


def overlaps() -> list[bool]:
    """What was noted of the races that this check has run so far."""
    return _TALLY.get().overlaps


def repeat_with(replay: dict[str, Any]) -> None:
    """Keeps what `gateproof replay` needs to see the failure again; it is redacted before it is kept."""
    _TALLY.get().replay = replay


def _shown(value: object) -> str:
    if isinstance(value, str):
        return value if len(value) <= 400 else value[:400] + f"… ({len(value)} characters)"
    text = repr(value)
    return text if len(text) <= 400 else text[:400] + "…"


def _plain(fact: object) -> object:
    return fact if isinstance(fact, str | int | float | bool | None) else str(fact)
