"""Keeps this process's memory and first environment from other processes of the same user."""

from __future__ import annotations

import os
import sys

_PR_SET_DUMPABLE = 4


def hide() -> None:
    """Closes /proc/PID/environ and /proc/PID/mem of this process to all but root; on Linux only.

    Programs that it starts can be read as usual.
    """
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - needed with a signing key only

        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def can_hide() -> bool:
    """False for root, who can read everything."""
    return sys.platform == "linux" and os.geteuid() != 0
