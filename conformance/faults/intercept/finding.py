"""Finds mitmdump."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from gateproof.conformance.faults.intercept.installing import is_finished, own_environment
from gateproof.package import CHECKOUT

VARIABLE = "GATEPROOF_MITMDUMP"
HOW_TO_GET_IT = f"run `gateproof intercept install`, or name mitmdump in {VARIABLE}"
_PROGRAM = "mitmdump"


def mitmdump(variables: Mapping[str, str] = os.environ, *, checkout: Path = CHECKOUT) -> Path | None:
    """The program named in the environment, else the first of those that are installed.

    They are next to the interpreter, in .venv-intercept of the checkout, where `gateproof intercept install`
    puts it, or on PATH.

    If the named program does not exist, no other one is used.
    """
    if named := variables.get(VARIABLE):
        return _program(Path(named))
    own = own_environment(variables)
    installed = [own / "bin"] if is_finished(own) else []
    beside = (Path(sys.executable).parent, checkout / ".venv-intercept" / "bin", *installed)
    found = next((program for folder in beside if (program := _program(folder / _PROGRAM))), None)
    on_the_path = shutil.which(_PROGRAM, path=variables.get("PATH"))
    return found or (Path(on_the_path) if on_the_path else None)


def _program(path: Path) -> Path | None:
    return path if path.is_file() and os.access(path, os.X_OK) else None
