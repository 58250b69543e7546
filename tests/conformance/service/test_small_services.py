"""An operation that streams, takes its time, says no with 200 or needs a session is driven right."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from warm import WARM

sys.path.insert(0, str(Path(__file__).parent))
from services import HTTP, MCP, written

PROGRAM = str(Path(__file__).with_name("small_service.py"))
RPC = 'kind = "http"\npath = "/rpc"\njson = { jsonrpc = "2.0", id = 7, method = "orders" }'
CALLS = {"streaming": HTTP, "slow": HTTP, "rpc": RPC, "session": MCP}
# Every rule that looks at answers; an operation of three seconds is asked what shows that it is served.
RULES = ("META-01", "CHAL-0[1268]", "SERVE-01", "BACK-0[4578]", "BACK-10", "SECRET-0[26]")
FEW = ("CHAL-01",)
# What is wrong, in which form, the rule that says so, and how.
WRONG = {
    "refusal-as-an-event": ("streaming", "CHAL-01", "status 200"),
    "refusal-with-200": ("rpc", "CHAL-01", "status 200"),
    "orders-in-an-error": ("rpc", "BACK-07", "no business data"),
    "session-is-enough": ("session", "CHAL-01", "status 200"),
}
OF_ANOTHER = "orders-of-whoever-came-first"


@pytest.mark.parametrize("form", CALLS)
def test_service_of_this_form_is_conformant(
    form: str, tmp_path: Path, judged: Callable[..., dict[str, Any]]
) -> None:
    report = judged(
        written(tmp_path, [*WARM, PROGRAM, form], CALLS[form]), *(FEW if form == "slow" else RULES)
    )

    found = {rule["id"]: (rule["verdict"], rule["reason"]) for rule in report["rules"]}
    assert {verdict for verdict, _ in found.values()} <= {"passed", "observed"}, found
    assert report["exit_code"] == 0


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_seen_through_the_form(
    wrong: str, tmp_path: Path, judged: Callable[..., dict[str, Any]]
) -> None:
    form, rule, said = WRONG[wrong]
    report = judged(written(tmp_path, [*WARM, PROGRAM, form, wrong], CALLS[form]), rule)

    assert any(said in message for message in failures(report)), report["rules"]


def test_orders_of_another_user_are_seen_through_a_stream(
    tmp_path: Path, judged: Callable[..., dict[str, Any]]
) -> None:
    form = "streaming"
    report = judged(written(tmp_path, [*WARM, PROGRAM, form, OF_ANOTHER], CALLS[form]), "SERVE-01")

    assert any("the orders of bob" in message for message in failures(report)), report["rules"]


def failures(report: dict[str, Any]) -> list[str]:
    return [
        check["message"]
        for rule in report["rules"]
        for check in rule["checks"]
        if check["verdict"] == "failed"
    ]
