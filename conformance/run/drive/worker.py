"""A worker of a run that is forked: execnet tells it what to do, as it tells a new interpreter."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(_: Sequence[str]) -> int:
    """Does what the program after `-c` does in the command of execnet: it runs the first line of stdin."""
    program = sys.stdin.readline()
    if program:
        # The line is the text of a program as a Python string, from the process that started this one.
        exec(eval(program), {"__name__": "__main__"})  # noqa: S102, S307
    return 0
