"""The command line: one small module for each command; heavy modules are imported when a command runs."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from gateproof import __version__
from gateproof.conformance.cli import (
    baseline,
    control,
    doctor,
    explain,
    init,
    intercept,
    prove,
    replay,
    report,
    rules_list,
    run,
    serve,
    verify,
)
from gateproof.conformance.cli.own_memory import hide
from gateproof.conformance.run.drive.signals import terminated_as_interrupted, what_stopped
from gateproof.reports.variables import SIGN_KEY

COMMANDS = (
    run,
    replay,
    report,
    verify,
    baseline,
    prove,
    serve,
    init,
    doctor,
    control,
    intercept,
    rules_list,
    explain,
)
WRONG_USAGE, NO_VERDICT = 2, 3
# Commands that only print. For the others, a closed pipe means exit code NO_VERDICT.
PRINTING = ("list", "explain", "init", "baseline")
# Commands that sign. The others may start programs, which must not inherit the signing key.
SIGNING = ("run", "report", "merge")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; 2 for a wrong command line."""
    parser = _parser()
    options = parser.parse_args(arguments)
    # Not one in which others run, too, such as a test.
    options.own_process = arguments is None
    handler = getattr(options, "handler", None)
    if handler is None:
        parser.print_help(sys.stderr)
        return WRONG_USAGE
    if SIGN_KEY in os.environ:
        # Removing it from the environment leaves it readable in /proc.
        hide()
    if options.command not in SIGNING:
        os.environ.pop(SIGN_KEY, None)
    try:
        with terminated_as_interrupted():
            return int(handler(options))
    except BrokenPipeError:
        # The reader closed the pipe. Avoid a second error message at exit.
        sys.stderr.close()
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0 if options.command in PRINTING else NO_VERDICT
    except OSError as broken:
        # For example a full disk: there is no verdict.
        with suppress(OSError):
            print(f"gateproof: {broken}", file=sys.stderr)
        return NO_VERDICT
    except KeyboardInterrupt:
        print(f"gateproof: stopped by {what_stopped()}", file=sys.stderr)
        return NO_VERDICT
    except Exception as broken:  # noqa: BLE001 - exit code 1 would be a verdict
        from gateproof.conformance.run.drive.where import where  # noqa: PLC0415 - of use only here

        # The text of an exception may contain secrets.
        print(f"gateproof: gateproof itself broke, which is no verdict: {where(broken)}", file=sys.stderr)
        return NO_VERDICT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gateproof",
        description="Puts an agent authorization gateway, an operator's service or an agent to the test.",
        epilog="For help on a command: gateproof COMMAND --help",
    )
    parser.add_argument("--version", action="version", version=f"gateproof {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for command in COMMANDS:
        command.add_parser(commands)
    return parser
