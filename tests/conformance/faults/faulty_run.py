"""`python faulty_run.py [inert]` says by line what checks about a merchant's faults found of the reference.

With `inert`, the merchant is told of no fault, whatever the checks believe.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gateproof.conformance.checks.gateway import (
    robust_merchant,
    secret_faults,
    vault_connections,
    vault_fault_sequences,
    vault_faults,
    vault_long_pauses,
)
from gateproof.conformance.faults.merchant_answers import MerchantFault
from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.suite import rules
from gateproof.conformance.suite.check import checks_in
from gateproof.fakes.merchant.admin import MerchantAdmin
from gateproof.reports.verdicts import CheckResult

MODULES = (
    vault_connections,
    vault_faults,
    vault_fault_sequences,
    vault_long_pauses,
    robust_merchant,
    secret_faults,
)
_SEEN: set[str] = set()
RULES = ("VAULT-06", "VAULT-10", "SECRET-07", "ROBUST-02")


def main() -> None:
    if sys.argv[1:] == ["inert"]:
        MerchantFault.scripted = _nothing  # type: ignore[method-assign]
        MerchantAdmin.switch_listener = _nobody  # type: ignore[method-assign]
        MerchantAdmin.connections = lambda *_: 0  # type: ignore[method-assign]
    checks = [check for module in MODULES for check in checks_in(module) if check.rule in RULES]
    ids = frozenset(check_id for check in checks for check_id in check.ids())
    options = RunOptions(seed=7, chosen=ids, exchanges=False)
    asked = rules.select(rules.load().for_role("gateway"), RULES)
    with TemporaryDirectory() as folder:
        carry_out(Embedded(), asked, options, _tell, Path(folder))


def _nothing(_fault: MerchantFault, **_more: Any) -> dict[str, Any]:
    return {"outcome": "ok"}


def _nobody(_admin: MerchantAdmin, door: str, face: str) -> int:
    """The sign-in came to the door, and after it nobody did."""
    came = 0 if face == "open" or door in _SEEN else 1
    _SEEN.add(door)
    return came


def _tell(result: CheckResult) -> None:
    told = {"id": result.id, "verdict": result.verdict, "message": result.message, "faults": result.faults}
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
