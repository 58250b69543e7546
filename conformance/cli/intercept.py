"""`gateproof intercept install`: installs the intercepting proxy."""

from __future__ import annotations

import argparse
import sys

NOT_DONE = 3


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("intercept", help="install the intercepting proxy")
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", dest="verb", required=True)
    install = verbs.add_parser(
        "install",
        help="install the proxy into an environment of its own",
        description="Installs mitmproxy into an environment of its own in your folder for data, in the "
        "versions that gateproof is tested with. Runs find it there.",
    )
    install.set_defaults(handler=handle)


def handle(_: argparse.Namespace) -> int:
    """Exit codes: 0 the proxy is installed, 3 it could not be."""
    from gateproof.conformance.faults.intercept.finding import mitmdump  # noqa: PLC0415
    from gateproof.conformance.faults.intercept.installing import InstallFailed, install  # noqa: PLC0415

    try:
        install(lambda what: print(what, flush=True))
    except InstallFailed as failed:
        print(f"gateproof: {failed}", file=sys.stderr)
        return NOT_DONE
    print(f"installed; runs use {mitmdump()}")
    return 0
