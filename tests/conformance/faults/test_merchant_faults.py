"""Every fault of a merchant fires, and a check whose fault did not fire is no pass."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from warm import WARM

from gateproof.conformance.faults.merchant_answers import (
    ENDLESS,
    LISTENER_FAULTS,
    LONG_PAUSES,
    ODD,
    REDIRECT,
    ROTATED,
    SILENCE,
    TROUBLE,
    MerchantFault,
)
from gateproof.conformance.kit.gateway import failure_oracle
from gateproof.conformance.kit.gateway.worker_state import WorkerState
from gateproof.conformance.suite.claims import LeftOut, NeverFired, Unmet, tallying
from gateproof.fakes.merchant.outcomes import PARAMETERS
from gateproof.fakes.merchant.records import JournalEntry
from gateproof.fakes.merchant.script import parse_script

REDIRECTS = {REDIRECT.fault.name: REDIRECT}
SCRIPTED = {**TROUBLE, **LONG_PAUSES, **SILENCE, **ENDLESS, **ROTATED, **ODD, **REDIRECTS}
ALL = {name: each.fault for name, each in (*SCRIPTED.items(), *LISTENER_FAULTS.items())}
# Checks that each have one fault, and are named by it.
BY_CASE = sorted(name for name in ALL if name not in {*SILENCE, *ENDLESS, *REDIRECTS})


def found(*arguments: str) -> list[dict[str, Any]]:
    program = Path(__file__).with_name("faulty_run.py")
    done = subprocess.run(
        [*WARM, str(program), *arguments], capture_output=True, text=True, timeout=240, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def honest() -> list[dict[str, Any]]:
    return found()


@pytest.fixture(scope="module")
def inert() -> list[dict[str, Any]]:
    return found("inert")


def test_the_reference_passes(honest: list[dict[str, Any]]) -> None:
    assert [result for result in honest if result["verdict"] != "passed"] == []


def test_every_fault_fires(honest: list[dict[str, Any]]) -> None:
    counted = [fault for result in honest for fault in result["faults"]]

    assert {fault["name"] for fault in counted} >= ALL.keys()
    assert [fault for fault in counted if fault["fired"] < 1] == []
    assert {(fault["name"], fault["layer"]) for fault in counted if fault["name"] in ALL} == {
        (name, fault.layer.value) for name, fault in ALL.items()
    }


def test_every_fault_that_does_not_fire_makes_its_checks_errors(inert: list[dict[str, Any]]) -> None:
    for name in BY_CASE:
        results = [result for result in inert if result["id"].endswith(f"[{name}]")]

        assert results, name
        assert {result["verdict"] for result in results} == {"error"}, name
        assert all(f"the fault {name} never fired" in result["message"] for result in results), name


def test_a_group_in_which_one_does_not_fire_is_an_error(inert: list[dict[str, Any]]) -> None:
    verdicts = {result["id"]: result["verdict"] for result in inert}

    for group in (
        "VAULT-06/silence_is_no_rejection",
        "VAULT-06/no_tape_of_troubles_is_a_rejection",
        "VAULT-10/sign_in_does_not_wait_for_ever",
        "SECRET-07/refresh_token_follows_no_redirect",
        "SECRET-07/assertions_follow_no_redirect",
    ):
        assert verdicts[group] == "error"


@dataclass
class Journal:
    """As much of a user's seclusion as the counting looks at."""

    entries: list[JournalEntry]
    world: Any = field(
        default_factory=lambda: SimpleNamespace(worker_state=WorkerState(separate_provisioning_grant=False))
    )

    def journal(self) -> list[JournalEntry]:
        return self.entries

    def asked(self, *grants: str) -> list[JournalEntry]:
        return [entry for entry in self.entries if entry.grant in grants]


def came(grant: str, *outcomes: str) -> Any:
    return Journal(
        [
            JournalEntry(ordinal=number, time=0.0, endpoint="token", grant=grant, outcome=outcome)
            for number, outcome in enumerate(outcomes, 1)
        ]
    )


def due(alone: Any, since: int = 0) -> failure_oracle.ExpiringToken:
    nobody = cast("Any", None)
    return failure_oracle.ExpiringToken(
        alone=alone, agent=nobody, grant=nobody, proxy_token=nobody, expired=None, since=since
    )


@pytest.mark.parametrize("what", SCRIPTED.values(), ids=list(SCRIPTED))
def test_a_fault_that_others_met_in_its_place_has_not_fired(what: MerchantFault) -> None:
    with tallying(), pytest.raises(NeverFired, match=f"fault {what.fault.name} never"):
        failure_oracle.count_fault_of(due(came("refresh_token", "ok", "ok")), what)
    with tallying(), pytest.raises(NeverFired, match=f"fault {what.fault.name} never"):
        failure_oracle.wait_for_provisioning_fault(
            came("urn:ietf:params:oauth:grant-type:jwt-bearer", "ok"), what
        )


@pytest.mark.parametrize("what", SCRIPTED.values(), ids=list(SCRIPTED))
def test_a_fault_that_was_met_is_counted(what: MerchantFault) -> None:
    with tallying() as tally:
        failure_oracle.count_fault_of(
            due(came("refresh_token", "ok", what.outcome, what.outcome), since=1), what
        )
        failure_oracle.wait_for_provisioning_fault(
            came("urn:ietf:params:oauth:grant-type:token-exchange", what.outcome), what
        )

    assert tally.fired == {what.fault: 3}


def test_a_gateway_that_never_came_by_is_left_out() -> None:
    what = TROUBLE["server-error"]
    with tallying(), pytest.raises(LeftOut):
        failure_oracle.count_fault_of(due(came("refresh_token", "ok"), since=1), what)
    with tallying(), pytest.raises(Unmet, match="provisioning"):
        failure_oracle.wait_for_provisioning_fault(came("authorization_code"), what)


@pytest.mark.parametrize("what", SCRIPTED.values(), ids=list(SCRIPTED))
def test_the_merchant_understands_the_script(what: MerchantFault) -> None:
    more = {"location": "https://elsewhere.test/"} if what is REDIRECT else {}
    fields = {"refresh": what.scripted(**more), "provisioning": what.scripted(**more)}

    assert parse_script(fields, PARAMETERS).refresh.outcome == what.outcome


def test_no_two_faults_share_a_name() -> None:
    groups = (TROUBLE, LONG_PAUSES, SILENCE, ENDLESS, ROTATED, ODD, REDIRECTS, LISTENER_FAULTS)

    assert len(ALL) == sum(map(len, groups))
