"""Ends a run that takes too long."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from gateproof.conformance.run.drive.signals import remember_reason


@contextmanager
def within(minutes: float) -> Iterator[None]:
    """Stops the process as SIGTERM does when the time is over: the run ends with the results so far."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end() -> None:
        remember_reason(f"--max-minutes {minutes:g}")
        os.kill(os.getpid(), signal.SIGTERM)

    timer = threading.Timer(minutes * 60, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
