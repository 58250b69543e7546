"""`gateproof run` with single checks: `python chosen_run.py FILE run [ARGUMENTS]`, with check IDs in FILE.

FILE is a JSON array. The command itself selects rules only.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

from gateproof.conformance.cli import main as gateproof
from gateproof.conformance.run.drive import session


def main(arguments: Sequence[str]) -> int:
    file, *words = arguments
    chosen = frozenset(json.loads(Path(file).read_text(encoding="utf-8")))
    carry_out = session.carry_out

    def with_chosen(target: Any, rules: Any, options: Any, *others: Any, **named: Any) -> Any:
        return carry_out(target, rules, replace(options, chosen=chosen), *others, **named)

    # As the command itself is run: without arguments of a caller, it forks its processes.
    with mock.patch.object(session, "carry_out", with_chosen), mock.patch.object(sys, "argv", [file, *words]):
        return gateproof()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
