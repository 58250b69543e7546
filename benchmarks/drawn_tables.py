"""Prints the tables of stored measurements as JSON, by the names of their programs, for `docs/draw.py`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial

import growth
import mcp_conformance
import races
import shards
import sign_in
import steady
import versions
from stored import table_of

TABLES: dict[str, Callable[[], str]] = {
    "races": races.table,
    **{
        program.NAME: partial(table_of, program.NAME, program.drawn)
        for program in (growth, mcp_conformance, shards, sign_in, steady, versions)
    },
}


def main() -> int:
    print(json.dumps({name: table() for name, table in TABLES.items()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
