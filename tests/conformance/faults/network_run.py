"""`python network_run.py [inert]` says by line what checks about clients and networks found of the reference.

With `inert`, nothing goes wrong, whatever the checks believe.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gateproof.conformance.checks.gateway import (
    code_network,
    reg_network,
    robust_network,
    vault_intercepted,
    vault_network,
)
from gateproof.conformance.faults import misbehaving
from gateproof.conformance.faults.byte_proxy import ByteProxy
from gateproof.conformance.faults.intercept.interceptor import Interceptor
from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.suite import rules
from gateproof.conformance.suite.check import checks_in
from gateproof.conformance.wire import pipelining
from gateproof.reports.verdicts import CheckResult

MODULES = (code_network, reg_network, robust_network, vault_intercepted, vault_network)


def main() -> None:
    if sys.argv[1:] == ["inert"]:
        misbehaving._sent = lambda *_: False
        code_network.answer_lost = lambda *_, **__: None  # type: ignore[attr-defined]
        pipelining._send = _whole
        armed = ByteProxy._set
        ByteProxy._set = lambda proxy, *_: armed(proxy, (), ())  # type: ignore[method-assign]
        Interceptor.arm = lambda *_: None  # type: ignore[method-assign]
        # What never comes need not be waited for.
        vault_network.PROVISIONING_S = vault_intercepted.PROVISIONING_S = 0.5  # type: ignore[attr-defined]
    checks = [check for module in MODULES for check in checks_in(module)]
    ids = frozenset(check_id for check in checks for check_id in check.ids())
    options = RunOptions(seed=7, chosen=ids, exchanges=False)
    asked = rules.select(rules.load().for_role("gateway"), sorted({check.rule for check in checks}))
    before = _descriptors()
    with TemporaryDirectory() as folder:
        carry_out(Embedded(), asked, options, _tell, Path(folder))
    print(json.dumps({"left": _descriptors() - before}), flush=True)


def _whole(speaking: Any, pieces: list[bytes], _: Any) -> None:
    speaking.sendall(b"".join(pieces))


def _descriptors() -> int:
    """How many files and sockets this process has open; the folder that says so is one of them each time."""
    folder = Path("/proc/self/fd")
    return len(os.listdir(folder)) if folder.is_dir() else 0  # noqa: PTH208


def _tell(result: CheckResult) -> None:
    told = {"id": result.id, "verdict": result.verdict, "message": result.message, "faults": result.faults}
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
