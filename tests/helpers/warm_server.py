"""`python warm_server.py` loads gateproof, and forks a process for every command that begins with WARM."""

from __future__ import annotations

import gc
import importlib
import runpy
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import warm

from gateproof.forks.server import ForkServer, Main, listening_in
from gateproof.reference.warm_up import warm_up

MODULES = (
    "gateproof.conformance.cli",
    "gateproof.conformance.cli.outputs",
    "gateproof.conformance.cli.replay_all",
    "gateproof.conformance.run.drive.session",
    "gateproof.conformance.run.proof.loaded_before",
    "gateproof.conformance.run.proof.proof",
    "gateproof.conformance.run.reference_world",
    "gateproof.fakes.merchant.__main__",
    "gateproof.reference.agent.command",
    "gateproof.reference.defects.__main__",
    "gateproof.reference.gateway.command",
    "gateproof.reference.playground.command",
    "gateproof.reference.service.command",
    "gateproof.reference.variants.__main__",
    "xdist.remote",
    "xdist.dsession",
)


def program(name: str) -> Main:
    """How to run a module, a script, or the text after `-c`."""

    return partial(ran, name)


def ran(name: str, arguments: Sequence[str]) -> int:
    """Zero, once the program has run to its end; one that exits raises SystemExit."""
    if name == "-c":
        sys.argv = ["-c", *arguments[1:]]
        # As its caller's own interpreter would.
        exec(arguments[0], {"__name__": "__main__"})  # noqa: S102
    elif name.endswith(".py"):
        sys.argv, sys.path = [name, *arguments], [str(Path(name).resolve().parent), *sys.path]
        runpy.run_path(name, run_name="__main__")
    else:
        # It is loaded; runpy warns if a module is there before it is run.
        for loaded in (name, f"{name}.__main__"):
            if not hasattr(sys.modules.get(loaded), "__path__"):
                sys.modules.pop(loaded, None)
        sys.argv = [name, *arguments]
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    return 0


def main() -> None:
    # Of this file's own folder.
    sys.path.pop(0)
    with listening_in(warm.FOLDER) as listening:
        print("listening", flush=True)
        for module in MODULES:
            importlib.import_module(module)
        warm_up()
        gc.freeze()
        ForkServer(listening, sys.stdin.fileno(), program).serve()


if __name__ == "__main__":
    main()
