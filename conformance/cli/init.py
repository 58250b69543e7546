"""`gateproof init`: a target file to fill in, every key of it explained."""

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
    parser.add_argument("--force", action="store_true", help="overwrite a file that is there")
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Writes the file and says what to type next; a file that is there stays as it is."""
    path: Path = arguments.path or Path(f"{arguments.role}.toml")
    if path.is_dir():
        path = path / f"{arguments.role}.toml"
    try:
        with path.open("w" if arguments.force else "x", encoding="utf-8") as file:
            file.write(template(arguments.role))
    except FileExistsError:
        print(f"gateproof: {path}: is there already; --force overwrites it", file=sys.stderr)
        return WRONG_USAGE
    except OSError as problem:
        print(f"gateproof: {path}: cannot be written: {problem.strerror}", file=sys.stderr)
        return WRONG_USAGE
    target = shlex.quote(str(path))
    print(f"Wrote {path}. Put your target's addresses into it, then see what can be tested:\n")
    print(f"  gateproof doctor --target {target}\n\nand put it to the test:\n")
    print(f"  gateproof run {arguments.role} --target {target}")
    return 0


def template(role: str) -> str:
    """The commented target file of a role."""
    return (ROOT / "conformance" / "targets" / "templates" / f"{role}.toml").read_text(encoding="utf-8")
