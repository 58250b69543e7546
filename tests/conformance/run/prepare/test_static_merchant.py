"""A gateway set up by hand, told once where the fake merchant will be, is tested with that merchant."""

from __future__ import annotations

from typing import Any

SOME = ("--only", "REG-01", "--only", "AUTHZ-0[29]", "--only", "CLAIM-0[1-4]", "--only", "REDEEM-0[1-5]")


def test_static_gateway_is_conformant_with_the_merchant_it_was_told_of(by_hand: Any) -> None:
    for number in range(2):
        by_hand.add_project(number)
    code, report = by_hand.run("--workers", "2", *SOME)
    checks = {check["id"]: check for rule in report["rules"] for check in rule["checks"]}
    assert (code, report["verdict"]) == (0, "conformant")
    assert checks["REDEEM-01/nine_steps_from_401_to_the_merchants_data"]["verdict"] == "passed"
