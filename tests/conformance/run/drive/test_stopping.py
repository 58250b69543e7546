"""Whoever hangs up means to stop, except to a run that was started to outlive its terminal."""

from __future__ import annotations

import os
import signal
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from gateproof.conformance.run.context.embedded import embedded_reference
from gateproof.conformance.run.drive import session
from gateproof.conformance.run.drive.interruption import Interruption
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.signals import postponed, terminated_as_interrupted
from gateproof.conformance.suite.rules import load
from gateproof.reports.record import FILE, read, result_of
from gateproof.reports.verdicts import RunVerdict


@contextmanager
def of_a_phase() -> Iterator[None]:
    interruption = Interruption()
    with interruption.held_back(), interruption.let_through():
        yield


HOLDING = {"a run": terminated_as_interrupted, "a phase": of_a_phase}


@pytest.mark.usefixtures("hang_up_heard")
@pytest.mark.parametrize("holding", HOLDING.values(), ids=HOLDING)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signal_to_stop_interrupts(
    holding: Callable[[], AbstractContextManager[None]], number: signal.Signals
) -> None:
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), holding():
        os.kill(os.getpid(), number)
    assert signal.getsignal(number) is before


@pytest.mark.usefixtures("hang_up_heard")
@pytest.mark.parametrize("holding", HOLDING.values(), ids=HOLDING)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_waits_until_a_line_is_written(
    holding: Callable[[], AbstractContextManager[None]], number: signal.Signals
) -> None:
    written = []

    def write() -> None:
        with holding():
            for line in range(3):
                with postponed():
                    os.kill(os.getpid(), number)
                    time.sleep(0.05)
                    written.append(line)
                time.sleep(0.5)

    with pytest.raises(KeyboardInterrupt):
        write()
    assert written == [0]


@pytest.mark.parametrize("holding", HOLDING.values(), ids=HOLDING)
def test_run_that_is_to_outlive_its_terminal_does(
    holding: Callable[[], AbstractContextManager[None]],
) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with holding():
            os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


class Holder:
    """What a finalizer is hung on."""


class Reluctant:
    """Its end is interrupted."""

    def __init__(self) -> None:
        self.ended = False

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        self.ended = True


def by_a_finalizer() -> None:
    weakref.finalize(Holder(), os.kill, os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize("let_go", [by_a_finalizer, Reluctant], ids=["weak reference", "object"])
@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_signal_in_what_the_interpreter_calls_by_itself_is_not_lost(let_go: Callable[[], object]) -> None:
    done = []

    def check() -> None:
        with of_a_phase():
            let_go()
            done.append("what lets go")
            time.sleep(5)
            done.append("the rest")

    with pytest.raises(KeyboardInterrupt):
        check()
    assert done == ["what lets go"]


@pytest.mark.parametrize("ends_by", [KeyboardInterrupt(), RuntimeError("broken")])
def test_run_that_ends_before_its_header_has_a_record(
    ends_by: BaseException, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def ending() -> None:
        raise ends_by

    monkeypatch.setattr(session, "temporary_run_folder", ending)
    result = session.carry_out(
        embedded_reference("gateway"), [load()["DISC-01"]], RunOptions(), lambda _: None, tmp_path
    )
    assert (result.verdict, result.run["complete"]) == (RunVerdict.NO_VERDICT, False)
    assert result_of(read(tmp_path / FILE)).verdict is RunVerdict.NO_VERDICT
