"""A check's result goes from process to process whatever the target has said."""

from __future__ import annotations

import json

from gateproof.reports.result_json import check_result_from_dict, check_result_to_dict
from gateproof.reports.verdicts import CheckResult, Reason, Verdict


def test_halves_of_characters_do_not_stop_a_result() -> None:
    result = CheckResult(
        id="ROBUST-01/generated[x]",
        rule="ROBUST-01",
        verdict=Verdict.FAILED,
        reason=Reason.EXPECTATION_BROKEN,
        message="status 500 after \ud800",
        got="\udfff",
        observations={"example": '{"state": "\ud800"}'},
    )

    told = check_result_to_dict(result)

    json.dumps(told, ensure_ascii=False).encode()
    assert check_result_from_dict(told).message == "status 500 after \ufffd"
