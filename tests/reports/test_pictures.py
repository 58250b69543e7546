"""Pictures are part of the record, and drawn from it like everything else."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest

from gateproof.conformance.run.gateway.screenshots import Screenshots
from gateproof.conformance.signin.sign_in_result import SignInResult
from gateproof.conformance.wire.keyring import Keyring
from gateproof.reports.pictures import path_of, render
from gateproof.reports.result_json import check_result_from_json, check_result_to_json
from gateproof.reports.verdicts import CheckResult, RuleResult, RunResult, RunVerdict, Verdict

PNG = b"\x89PNG\r\n\x1a\n..."
FAILED = CheckResult(id="AUTHZ-01/a[one of/two]", rule="AUTHZ-01", verdict=Verdict.FAILED)


def result(*checks: CheckResult) -> RunResult:
    rule = RuleResult(
        id="AUTHZ-01", level="spec", title="t", section="s", verdict=Verdict.FAILED, checks=checks
    )
    return RunResult(
        role="gateway",
        verdict=RunVerdict.NOT_CONFORMANT,
        reason="r",
        rules=(rule,),
        target={"name": "n"},
        run={},
    )


def test_each_check_has_a_file_of_its_own() -> None:
    names = {path_of(name) for name in ("AUTHZ-01/a[b/c]", "AUTHZ-01/a[b-c]", "AUTHZ-01/a-b-c", "AUTHZ-01/a")}

    assert len(names) == 4
    assert "pictures/AUTHZ-01-a.png" in names
    assert all("/" not in name.removeprefix("pictures/") for name in names)


def test_picture_travels_with_its_check_and_is_drawn() -> None:
    pictured = replace(FAILED, picture=base64.b64encode(PNG).decode())

    assert check_result_from_json(check_result_to_json(pictured)) == pictured
    assert render(result(pictured)) == {path_of(FAILED.id): PNG}
    assert render(result(FAILED)) == {}
    assert render(result(replace(FAILED, picture="no base64 §"))) == {}


@pytest.fixture
def album() -> Screenshots:
    found = Screenshots()
    found.begin(FAILED.id)
    return found


def test_only_a_result_that_speaks_of_its_picture_gets_one(album: Screenshots) -> None:
    name = album.picturing(Keyring).keep(PNG)
    said = SignInResult(status=200, stuck="there is no form on the page", picture=name).outcome()

    assert album.illustrated(replace(FAILED, got=said)).picture == base64.b64encode(PNG).decode()
    assert album.illustrated(replace(FAILED, got="status 500")).picture == ""
    album.begin(FAILED.id)
    assert album.illustrated(replace(FAILED, got=said)).picture == ""


def test_what_may_not_be_shown_is_known(album: Screenshots) -> None:
    keyring = Keyring()
    picturing = album.picturing(lambda: keyring)
    assert not picturing.tells("Hello wonderland-42")

    keyring.secret("password", "wonderland-42")
    keyring.secret("password", "abc")

    assert picturing.tells("Hello wonderland-42, how are you")
    assert not picturing.tells("the abc of it")
    assert picturing.redact("Hello wonderland-42") == "Hello ⟨password#1⟩"
