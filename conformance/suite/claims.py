"""The claims of a check: `require` (preconditions), `expect` (the rule), `observe` (open choices)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from gateproof.conformance.suite.fault import Fault
from gateproof.conformance.suite.steps import owners
from gateproof.conformance.wire.client import RateLimited
from gateproof.conformance.wire.exchange import NOT_JSON, Exchange


class Broken(Exception):
    """A claim that does not hold. Its texts are not redacted yet.

    `exchange` is set if the claim was about a whole answer. `owner` is the rule that a failed step belongs
    to; empty if no rule fails because of it.
    """

    def __init__(
        self, *, what: str, expected: str, got: str, exchange: Exchange | None = None, owner: str = ""
    ) -> None:
        super().__init__(what)
        self.what = what
        self.expected = expected
        self.got = got
        self.exchange = exchange
        self.owner = owner


class Unmet(Broken):
    """A precondition does not hold: the rule could not be tested."""


class Violated(Broken):
    """The rule does not hold."""


class Unavailable(Exception):
    """The target does not offer what a check needs."""

    def __init__(self, need: str, reason: str) -> None:
        super().__init__(reason)
        self.need = need
        self.reason = reason


class LeftOut(Exception):
    """Leaves out a part of a rule because of a legal choice of the target; the rest still counts."""


class NotApplicable(Exception):
    """The rule is about another kind of target; the text says which kind this one is."""


class NeverFired(Exception):
    """A fault was set up on the target's path and did nothing: the check proves nothing."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(f"the fault {fault.name} never fired between {fault.hop.value}")


class NoOverlap(Exception):
    """A race was repeated for as long as allowed, and its requests overlapped too rarely."""


class TimesUnclear(Exception):
    """The times that a check compares are too long or too uneven to decide anything."""


class UsedUp(RateLimited):
    """A code or refresh token was refused after the target had asked to send it again later."""


@dataclass(slots=True)
class Tally:
    """Counts the claims and observations of a check: without any, it has shown nothing.

    `attached` are documents to show next to a broken claim. `owned` is false while no rule fails
    because of a failed step. `fired` counts faults, `overlaps` says for each race whether its requests
    overlapped, and `replay` is what repeats a failure.
    """

    expected: int = 0
    observed: dict[str, Any] = field(default_factory=dict)
    attached: dict[str, Any] = field(default_factory=dict)
    fired: dict[Fault, int] = field(default_factory=dict)
    owned: bool = True
    overlaps: list[bool] = field(default_factory=list)
    replay: dict[str, Any] | None = None


_TALLY: ContextVar[Tally] = ContextVar("gateproof_tally")


@contextmanager
def tallying() -> Iterator[Tally]:
    """Collects the claims that are made inside the block."""
    tally = Tally()
    token = _TALLY.set(tally)
    try:
        yield tally
    finally:
        _TALLY.reset(token)


@dataclass(frozen=True, slots=True)
class AnswerClaim:
    """Claims about one answer; each returns a value for further use."""

    exchange: Exchange
    verb: Verb

    def status(self, *allowed: int) -> Exchange:
        """The answer has one of these statuses."""
        wanted = " or ".join(map(str, allowed))
        succeeds = all(200 <= status < 300 for status in allowed)
        if succeeds and self.exchange.may_be_used_up:
            raise UsedUp("it asked to send a code or refresh token again later, and then refused it")
        self._hold(self.exchange.status in allowed, f"status {wanted}", succeeds=succeeds)
        return self.exchange

    def refused(self) -> Exchange:
        """The answer is a refusal: a status from 400 to 499."""
        status = self.exchange.status
        self._hold(status is not None and 400 <= status < 500, "a refusal (a 4xx status)")
        return self.exchange

    def not_granted(self, what: str, *members: str) -> Exchange:
        """The answer is a refusal, and contains none of these members with a value.

        A gateway may build every answer from the same record, with empty texts where it has nothing to say.
        """
        self.refused()
        came = [name for name in members if self.exchange.member(name)]
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
        got = f"{self.exchange.outcome()} with {found}"
        self._hold(False, "a JSON object in the body", got, succeeds=True)
        raise AssertionError("unreachable")

    def _hold(self, holds: bool, expected: str, got: str | None = None, *, succeeds: bool = False) -> None:
        verb, step = self.verb, self.exchange.step
        if succeeds and not verb.step and step in owners():
            verb = verb.step_of(step)
        found = got or self.exchange.outcome()
        verb.that(holds, step, expected=expected, got=found, exchange=self.exchange)


@dataclass(frozen=True, slots=True)
class Verb:
    """`require` or `expect`: the same claims, but another exception if they do not hold.

    A broken `require` is a failure of the rule that `step` belongs to. By default, an
    exchange that has to succeed is the step `exchange.step`.
    """

    breaks_as: type[Broken]
    step: str = ""

    def step_of(self, step: str) -> Verb:
        """The same claims, about this step."""
        return replace(self, step=step)

    def __call__(self, exchange: Exchange) -> AnswerClaim:
        return AnswerClaim(exchange, self)

    def that(
        self, holds: bool, what: str, *, expected: str, got: object, exchange: Exchange | None = None
    ) -> None:
        """Claims that `holds` is true; `what` names the claim."""
        if self.breaks_as is Violated:
            _TALLY.get().expected += 1
        if not holds:
            owner = owners()[self.step] if self.step and _TALLY.get().owned else ""
            raise self.breaks_as(
                what=what, expected=expected, got=_shown(got), exchange=exchange, owner=owner
            )

    def equal(self, got: object, expected: object, what: str) -> None:
        """The values are equal and have the same type: `True` is not 1."""
        self.that(got == expected and type(got) is type(expected), what, expected=_shown(expected), got=got)

    def text(self, got: object, what: str) -> str:
        """The value is a string that is not empty."""
        self.that(isinstance(got, str) and got != "", what, expected="a non-empty string", got=got)
        return str(got)


_SERVER_ERRORS = 500
require = Verb(Unmet)
expect = Verb(Violated)


@contextmanager
def rule_requires() -> Iterator[None]:
    """Inside this block, a failed `require` is a failure of the rule, not "not-testable"."""
    _TALLY.get().expected += 1
    try:
        yield
    except Unmet as unmet:
        raise Violated(
            what=unmet.what, expected=unmet.expected, got=unmet.got, exchange=unmet.exchange
        ) from unmet


@contextmanager
def values_of_choice() -> Iterator[None]:
    """Inside this block, a refused step leaves the part out: a target need not accept its values.

    If the target answers with a server error, the part is not testable, and no rule fails.
    """
    tally = _TALLY.get()
    before, tally.owned = tally.owned, False
    try:
        yield
    except Unmet as unmet:
        status = unmet.exchange.status if unmet.exchange is not None else None
        if status is not None and status >= _SERVER_ERRORS:
            raise
        raise LeftOut(f"the target does not accept a value that it need not accept: {unmet}") from unmet
    finally:
        tally.owned = before


def observe(**facts: object) -> None:
    """Records a choice that the specification leaves open. Values must be safe to show."""
    _TALLY.get().observed.update({name: _plain(fact) for name, fact in facts.items()})


def attach(**documents: object) -> None:
    """Attaches JSON to the claims that follow; it is shown, redacted, if one of them does not hold."""
    _TALLY.get().attached.update(documents)


def count_fault(fault: Fault, times: int) -> None:
    """Counts how often a fault took effect; if it never did, the check is an error.

    If the target never reached the place of the fault, use `require` or LeftOut instead.
    """
    tally = _TALLY.get()
    tally.fired[fault] = tally.fired.get(fault, 0) + times
    if tally.fired[fault] < 1:
        raise NeverFired(fault)


def overlapped(holds: bool) -> None:
    """Records whether all requests of a race were sent before the first answer came."""
    _TALLY.get().overlaps.append(holds)


def overlaps() -> list[bool]:
    """The recorded overlaps of all races of this check so far."""
    return _TALLY.get().overlaps


def repeat_with(replay: dict[str, Any]) -> None:
    """Stores what `gateproof replay` needs to repeat the failure; it is redacted before."""
    _TALLY.get().replay = replay


def _shown(value: object) -> str:
    if isinstance(value, str):
        return value if len(value) <= 400 else value[:400] + f"… ({len(value)} characters)"
    text = repr(value)
    return text if len(text) <= 400 else text[:400] + "…"


def _plain(fact: object) -> object:
    return fact if isinstance(fact, str | int | float | bool | None) else str(fact)
