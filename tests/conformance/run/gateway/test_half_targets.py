"""A gateway that works up to one step passes no check of what comes after it.

It is deader than it looks: agents register, users sign in, and every wrong request is refused, as every right
one is. `make odd-targets` tries each step with each refusal.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

PROGRAM = str(Path(__file__).with_name("half_gateway.py"))
WHOLE = "GATEPROOF_WHOLE" in os.environ

# Checks that may pass once a step works, in the order of the steps.
SHOWN: dict[str, tuple[str, ...]] = {
    "discovery": (
        *("DISC-*", "KEYS-01/jwks_uri_serves_a_key_set", "KEYS-0[356]/*"),
        *("ROBUST-01/documents_take_*", "ROBUST-01/resource_id_in_the_path_can_be_anything?[!a]*"),
    ),
    "registration": (
        *("REG-0[1-69]/*", "REG-12/*", "REG-13/*"),
        *("ROBUST-01/registration_*", "ROBUST-01/generated_registrations_*"),
    ),
    "sign-in": (
        *("AUTHZ-*", "ROBUST-01/authorization_*", "ROBUST-01/generated_authorizations_*"),
        *("ROBUST-01/state_*", "ROBUST-01/resource_id_in_the_path_can_be_anything?authorization?"),
    ),
    "tokens": (
        *("REG-*", "CODE-*", "CLAIM-*", "KEYS-*"),
        *("SECRET-07/code_goes_*", "SECRET-07/page_with_a_credential_*"),
        *("ROBUST-01/token_endpoint_takes_any_field*", "ROBUST-01/generated_exchanges_*"),
        "ROBUST-01/registered_name_*",
    ),
    "proxy-tokens": (
        *("PROXY-0[1-4]/*", "PROXY-05/new_clients_push_*", "PROXY-10/*"),
        "PROXY-08/agent_that_registers_for_it_*",
        # What the gateway asserts, it asserts while the user signs in; its merchant fails it there, too.
        *("VAULT-08/*", "VAULT-10/*", "SECRET-06/sign_in_*", "SECRET-07/assertions_follow_no_redirect"),
        # These look at answers of the steps so far, and at errors.
        *("SECRET-04/proxy_secret_is_in_no_answer_to_the_backend", "SECRET-07/no_address_holds_*"),
        "ROBUST-01/token_endpoint_takes_anything*",
    ),
}
STEPS = tuple(SHOWN)
REFUSALS = (400, 401, 404, 410)
# The rules that begin after a step, for the quick tests.
AFTER = {
    "discovery": ("REG-*", "AUTHZ-*", "CODE-*", "PROXY-*", "REDEEM-*", "VAULT-*", "SECRET-*", "ROBUST-*"),
    "registration": ("REG-0[78]", "AUTHZ-0[3-9]", "AUTHZ-1*", "CODE-*", "PROXY-*", "REDEEM-0*"),
    "proxy-tokens": ("PROXY-0[5-9]", "REDEEM-0*", "VAULT-0[1-5]", "VAULT-11", "SECRET-0[2-4]"),
}
CASES = (
    [(step, status) for step in STEPS for status in REFUSALS]
    if WHOLE
    else [("discovery", 401), ("registration", 400), ("proxy-tokens", 410)]
)


@pytest.mark.parametrize(("last", "status"), CASES)
def test_no_check_passes_of_what_comes_after_the_last_step_that_works(
    last: str, status: int, launched_target: Callable[..., Path], judged: Callable[..., dict[str, Any]]
) -> None:
    file = launched_target(PROGRAM, last, str(status), secure=False)

    report = judged(file, *(() if WHOLE else AFTER[last]), faults=WHOLE)

    shown = [glob for step in STEPS[: STEPS.index(last) + 1] for glob in SHOWN[step]]
    passed = [
        check["id"] for rule in report["rules"] for check in rule["checks"] if check["verdict"] == "passed"
    ]
    assert [name for name in passed if not any(fnmatchcase(name, glob) for glob in shown)] == []
    assert [rule["id"] for rule in report["rules"] if rule["verdict"] == "error"] == []
    assert report["exit_code"] == 1
    # Each rule by itself would have ended so: it failed, or it says whose failure left it untested.
    blamed = re.compile(r"; this is a failure of [A-Z]+-\d\d$")
    untested = [
        (rule["id"], rule["reason"])
        for rule in report["rules"]
        if rule["level"] in {"spec", "entailed"} and rule["verdict"] == "not-testable"
        if not any(blamed.search(check["message"]) for check in rule["checks"])
    ]
    assert [found for found in untested if found[1] != "left out by --no-faults"] == []


def test_failed_step_decides_although_its_rule_was_not_selected(
    launched_target: Callable[..., Path], judged: Callable[..., dict[str, Any]]
) -> None:
    file = launched_target(PROGRAM, "tokens", "400", secure=False)

    report = judged(file, "REDEEM-03", faults=False)

    found = {rule["id"]: rule for rule in report["rules"]}
    assert (report["exit_code"], report["verdict"]) == (1, "not-conformant")
    assert {name: rule["verdict"] for name, rule in found.items()} == {
        "PROXY-01": "failed",
        "REDEEM-03": "not-testable",
    }
    (step,) = found["PROXY-01"]["checks"]
    assert step["id"] == "PROXY-01/as_a_step"
    assert step["got"] == "status 400"
    assert step["exchanges"]
    assert step["replay"]["check"].startswith("REDEEM-03/")


def test_request_that_ends_the_process_has_failed(
    launched_target: Callable[..., Path], judged: Callable[..., dict[str, Any]]
) -> None:
    file = launched_target(PROGRAM, "proxy-tokens", "0", secure=False, alone=True)

    report = judged(file, "REDEEM-03", faults=False)

    (rule,) = (rule for rule in report["rules"] if rule["id"] == "REDEEM-03")
    assert (report["exit_code"], rule["verdict"]) == (1, "failed")
    assert rule["reason"].startswith("the target ended by itself: exit code 70; ")
