"""A check's result goes from process to process whatever the target has said."""

from __future__ import annotations

from gateproof.reports.exchanges import Shown
from gateproof.reports.result_json import check_result_from_json, check_result_to_json
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
        exchanges=(_shown("\ud800"),),
    )

    told = check_result_from_json(check_result_to_json(result))

    assert (told.message, told.got) == ("status 500 after \ufffd", "\ufffd")
    assert told.observations == {"example": '{"state": "\ufffd"}'}
    assert told.exchanges == (_shown("\ufffd"),)


def test_an_exchange_goes_from_process_to_process_unchanged() -> None:
    result = CheckResult(
        id="CODE-01/a", rule="CODE-01", verdict=Verdict.PASSED, exchanges=(_shown("\U0001f511 é"),)
    )

    assert check_result_from_json(check_result_to_json(result)) == result


def _shown(said: str) -> Shown:
    headers = (("Content-Type", "text/plain"), ("X-Said", said))
    return Shown(
        step="code exchange",
        method="POST",
        url=f"https://gateway.example/{said}",
        request_headers=headers,
        request_body=said,
        status=500,
        answer_headers=headers,
        answer_body=said,
        retries=1,
        at_s=1.5,
        elapsed_s=0.25,
        resent=True,
    )
