"""`gateproof replay FILE --hold`: keeps target and fakes running after the failure, for inspection."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from gateproof.conformance.run.bench import Bench
from gateproof.reports.exchanges import curl
from gateproof.reports.terminal import Screen
from gateproof.reports.verdicts import CheckResult

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def hold(screen: Screen, bench: Bench, failed: CheckResult) -> None:
    """Prints the addresses of all parties and what was sent, and waits for Ctrl-C."""
    own_ca = False
    for name, address in bench.whereabouts():
        own_ca |= name == "CA_FILE"
        screen.say(f"{name}={address}")
    for number, shown in enumerate(failed.exchanges, 1):
        screen.say(f"\n# {number}. {shown.step}")
        screen.say(curl(shown, own_ca=own_ca))
    with _signalled() as over:
        screen.say("\neverything is held as the failure left it; Ctrl-C ends it")
        over.wait()


@contextmanager
def _signalled() -> Iterator[threading.Event]:
    """Inside the block, a signal to stop only sets the event; the run then stops everything as usual."""
    over = threading.Event()
    before = {number: signal.signal(number, lambda *_: over.set()) for number in _ENDING}
    try:
        yield over
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
