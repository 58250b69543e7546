"""`gateproof baseline`: writes a baseline file from the failures of a run."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

WRONG_USAGE, NOT_DONE = 2, 3


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "baseline",
        help="print a baseline file with the failures of a run",
        description="Prints one entry for each failed check of a deciding rule, for the option --baseline.",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder of a run")
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why the failures are accepted")
    parser.add_argument("--expires", required=True, metavar="DATE", help="until when, such as 2030-12-31")
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    from datetime import date  # noqa: PLC0415

    from gateproof.reports.baseline import file_of  # noqa: PLC0415
    from gateproof.reports.escaping import one_line  # noqa: PLC0415
    from gateproof.reports.record import FILE, Unreadable, read, result_of  # noqa: PLC0415

    try:
        expires = date.fromisoformat(arguments.expires)
    except ValueError:
        print(
            f"gateproof: --expires {one_line(arguments.expires)}: expected a date such as 2030-12-31",
            file=sys.stderr,
        )
        return WRONG_USAGE
    try:
        result = result_of(read(arguments.folder / FILE))
    except Unreadable as problem:
        print(f"gateproof: {problem}", file=sys.stderr)
        return NOT_DONE
    print(file_of(result, arguments.reason, expires), end="")
    return 0
