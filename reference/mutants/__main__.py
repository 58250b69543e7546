"""`python -m gateproof.reference.mutants ROLE FILE …` runs a party with one changed function.

The file is JSON: the module, the qualified name of the function, and the module's changed source.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from gateproof.reference.agent.command import main as run_agent
from gateproof.reference.gateway.command import main as serve_gateway
from gateproof.reference.service.command import main as serve_service

ROLES: Mapping[str, Callable[[Sequence[str]], int]] = {
    "gateway": serve_gateway,
    "service": serve_service,
    "agent": run_agent,
}
USAGE = "usage: python -m gateproof.reference.mutants gateway|service|agent FILE [its arguments]"
# The exit code if the change cannot be applied to the loaded module.
NOT_MADE = 4


def main(argv: Sequence[str]) -> int:
    if len(argv) < 2 or argv[0] not in ROLES:
        print(USAGE, file=sys.stderr)
        return 2
    role, file, rest = argv[0], argv[1], argv[2:]
    try:
        change(**json.loads(Path(file).read_bytes()))
    except (LookupError, SyntaxError, ValueError) as why:
        print(f"reference mutants: {why}", file=sys.stderr)
        return NOT_MADE
    return ROLES[role](rest)


def change(module: str, function: str, source: str) -> None:
    """Replaces the code of the function in place, so that existing references to it change too."""
    loaded = importlib.import_module(module)
    code = _code_of(function, compile(source, str(loaded.__file__), "exec", dont_inherit=True))
    _function(loaded, function).__code__ = code


def _code_of(function: str, outer: CodeType) -> CodeType:
    for code in _codes(outer):
        if code.co_qualname == function:
            return code
    raise LookupError(f"the changed source has no {function}")


def _codes(outer: CodeType) -> Iterator[CodeType]:
    for constant in outer.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _function(loaded: Any, function: str) -> FunctionType:
    found = loaded
    for name in function.split("."):
        found = vars(found)[name]
    found = getattr(found, "fget", found)
    while not isinstance(found, FunctionType):
        found = getattr(found, "__func__", None) or vars(found)["__wrapped__"]
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
