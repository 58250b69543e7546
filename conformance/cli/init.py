"""`gateproof init`: writes a target file to fill in, with every key explained."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from gateproof.package import ROOT

ROLES = ("gateway", "service", "agent")
WRONG_USAGE = 2


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "init",
        help="write a commented target file",
        description="Writes a commented target file for a gateway, a service or an agent.",
    )
    parser.add_argument("role", choices=ROLES, help="what the target is")
    parser.add_argument(
        "path", nargs="?", type=Path, metavar="PATH", help="the file to write (default: ROLE.toml here)"
    )
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Writes the file and prints the next commands; keeps an existing file without --force."""
    path: Path = arguments.path or Path(f"{arguments.role}.toml")
    if path.is_dir():
        path = path / f"{arguments.role}.toml"
    try:
        with path.open("w" if arguments.force else "x", encoding="utf-8") as file:
            file.write(template(arguments.role))
    except FileExistsError:
        print(f"gateproof: {path}: exists already; --force overwrites it", file=sys.stderr)
        return WRONG_USAGE
    except OSError as problem:
        print(f"gateproof: {path}: cannot be written: {problem.strerror}", file=sys.stderr)
        return WRONG_USAGE
    target = shlex.quote(str(path))
    print(f"Wrote {path}. Put your target's addresses into it, then see what can be tested:\n")
    print(f"  gateproof doctor --target {target}\n\nand run the tests:\n")
    print(f"  gateproof run {arguments.role} --target {target}")
    return 0


def template(role: str) -> str:
    """The commented target file of a role."""
    return (ROOT / "conformance" / "targets" / "templates" / f"{role}.toml").read_text(encoding="utf-8")
