"""Opens the user's browser, as a desktop program does."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable

from gateproof.reference.agent.wire import Failed


def open_browser(command: str | None, url: str, say: Callable[[str], None]) -> Callable[[], bool]:
    """Opens the URL; returns a function that tells whether the browser has ended."""
    if command is None:
        say(f"open this address in your browser: {url}")
        return lambda: False
    try:
        process = subprocess.Popen([command, url], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    except OSError as problem:
        raise Failed(f"the browser cannot be started: {os.strerror(problem.errno or 0)}") from None
    return lambda: process.poll() is not None
