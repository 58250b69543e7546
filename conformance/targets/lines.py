"""Line numbers of tables and keys in a target file, for reports."""

from __future__ import annotations

import re

_TABLE = re.compile(r"\s*\[+\s*([\w.]+)\s*\]+")
_KEY = re.compile(r"\s*(\w+)\s*=")


def lines_of(text: str) -> dict[str, int]:
    """The first line of each table, and of each key of [target], by name."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if opened := _TABLE.match(line):
            table = opened[1]
            found.setdefault(table, number)
        elif table == "target" and (key := _KEY.match(line)):
            found.setdefault(key[1], number)
    return found
