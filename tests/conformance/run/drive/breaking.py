"""Faults of the harness itself, put into a process from outside: each raises with real secrets in its text.

A test patches its own process with them; xdist's workers meet this file as they start, see `in_workers`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.received import Received
from gateproof.conformance.run.drive import plugin
from gateproof.conformance.run.gateway.bench import GatewayBench

TEXT = "a library's text"
_begin = GatewayBench.begin
_judge = plugin.judge
# The check that breaks where not everything does: a worker has it, and none that comes later misses it.
_CHECK = "REDEEM-02/expires_at_is_a_timestamp"


def broken(*values: object) -> NoReturn:
    """Libraries put what they were given into what they raise, and Secrets are revealed on the way."""
    raise RuntimeError(f"{TEXT} with {[_opened(value) for value in values]} in it")


def _opened(value: Any) -> object:
    return value.reveal() if hasattr(value, "reveal") else value


def redeem(_gateway: Gateway, *arguments: object, **named: object) -> NoReturn:
    broken(*arguments, *named.values())


def begin(bench: GatewayBench, check_id: str) -> None:
    _begin(bench, check_id)
    if check_id == _CHECK:
        context = bench.context
        control = context.target.control
        broken(control.token if control else None, *(user.password for user in context.users))


def judge(check_id: str, check: Any, run: Callable[[], None], bench: Any) -> Any:
    if check_id == _CHECK:
        broken(*(user.password for user in bench.context.users))
    return _judge(check_id, check, run, bench)


def survey(received: Received) -> NoReturn:
    broken(*received._own._secrets)


def collected(config: pytest.Config, items: list[pytest.Item]) -> NoReturn:
    """pytest knows a hook by its name in the plug-in."""
    broken(dict(os.environ), config, items)


def die(check_id: str, check: Any, run: Callable[[], None], bench: Any) -> Any:
    """For workers only: whoever runs a check in its own process would end here."""
    if check_id == _CHECK:
        os._exit(1)
    return _judge(check_id, check, run, bench)


FAULTS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "a check": (Gateway, "redeem", redeem),
    "the bench": (GatewayBench, "begin", begin),
    "the judge": (plugin, "judge", judge),
    "the collection": (plugin, "pytest_collection_modifyitems", collected),
    "the end of a phase": (Received, "survey", survey),
    "a worker": (plugin, "judge", die),
}


def in_workers(where: str, folder: Path) -> str:
    """A folder for PYTHONPATH from which every worker takes the fault: they are the only `python -c`."""
    lines = (
        "import sys",
        "if sys.argv[:1] == ['-c']:",
        "    from importlib.util import module_from_spec, spec_from_file_location",
        f"    spec = spec_from_file_location('breaking', {__file__!r})",
        "    breaking = sys.modules['breaking'] = module_from_spec(spec)",
        "    spec.loader.exec_module(breaking)",
        f"    setattr(*breaking.FAULTS[{where!r}])",
    )
    folder.mkdir()
    (folder / "sitecustomize.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
