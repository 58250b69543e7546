"""Wrong services are caught by the right rule, and other legal ones are left alone."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from warm import WARM

from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.run.proof.implementations import combinations, subjects
from gateproof.conformance.suite import rules
from gateproof.conformance.suite.proven import proven
from gateproof.reports.verdicts import RunResult

COMMAND = [*WARM, "gateproof", "prove", "service", "--workers", "1", "--no-color"]


def judged(
    subject: Sequence[str], folder: Path, *only: str, chosen: frozenset[str] | None = None
) -> RunResult:
    *program, name = subject
    selected = rules.select(rules.load().for_role("service"), only)
    options = RunOptions(role="service", seed=5, only=only, chosen=chosen)
    return carry_out(Embedded(name=name, program=(*program, name)), selected, options, lambda _: None, folder)


def failed(result: RunResult) -> dict[str, Any]:
    return {
        check.id: check.message
        for rule in result.rules
        for check in rule.checks
        if check.verdict.value == "failed"
    }


@pytest.mark.parametrize(
    ("name", "rule", "said"),
    [
        ("proxy-client-in-the-form", "BACK-01", "Authorization of the Proxy token request"),
        ("resource-from-the-token", "BACK-04", "resource of the redemption"),
        ("redemption-by-put", "BACK-04", "method of the redemption"),
        ("first-token-of-a-user-redeemed", "BACK-04", "got the token of the call before"),
        ("cookie-before-the-token", "BACK-10", "a call of bob with the cookies of alice"),
        ("agents-token-tried-after-a-refusal", "BACK-05", "got the gateway access token"),
        ("agents-token-announced-to-the-merchant", "BACK-05", "got the gateway access token"),
        ("last-orders-of-the-user-shown-again", "BACK-07", "expected no business data"),
        ("metadata-change-by-use", "META-04", "authorization_servers in"),
        ("merchant-token-kept-for-all", "BACK-10", "one user after the other"),
        ("merchant-unverified", "BACK-12", "expected no request, got 1 with a merchant token"),
        ("large-body-read-as-requests", "ROBUST-02", "what follows a large body"),
        (
            "merchants-refusal-met-by-renewing-without-end",
            "BACK-06",
            "calls of the redemption for one operation",
        ),
        ("member-taken-for-granted", "ROBUST-01", "limit: null: status 500"),
        ("login-page-for-people", "CHAL-01", "expected status 401, got status 302"),
        ("metadata-on-a-page-for-people", "META-01", "expected a JSON object in the body"),
        ("merchant-token-kept-by-subject-behind-a-limiter", "BACK-08", "expected no business data"),
        ("current-token-while-a-proxy-token-is-got", "BACK-10", "who waited for a Proxy token together"),
        ("merchant-token-kept-by-jti", "BACK-10", "with tokens without jti"),
        ("agents-token-for-want-of-a-proxy-token", "BACK-05", "got the gateway access token"),
        ("calls-at-once-by-one-token-lost", "SERVE-01", "with one and the same token"),
        ("issuer-unread-after-a-search-for-the-key", "CHAL-05", "under a key that was just added"),
        ("challenge-from-the-gateways-keys", "CHAL-01", "got status 503"),
        ("metadata-from-the-gateway", "META-04", "got status 502"),
        ("unsendable-headers-quoted", "SECRET-06", "after a token that no header can contain"),
        ("expiry-taken-for-a-date", "ROBUST-01", "exp: 1e15: status 500"),
        ("bare-token-in-x-authorization", "CHAL-03", "a good token in a header X-Authorization"),
        (
            "forwarded-host-taken-for-granted",
            "ROBUST-01",
            "challenge: expected an answer in time and with a status below 500",
        ),
    ],
)
def test_defect_is_named_for_what_it_is(name: str, rule: str, said: str, tmp_path: Path) -> None:
    known = proven("service").defects.get(name)
    chosen = None if known is None else frozenset(known.checks)
    found = failed(
        judged((*WARM, "gateproof.reference.defects", "service", name), tmp_path, rule, chosen=chosen)
    )

    assert any(said in message for message in found.values()), found


@pytest.mark.parametrize(
    ("name", "only"),
    [
        ("metadata-at-a-path-of-its-own", ("META-0[1234]", "CHAL-02")),
        ("metadata-for-a-path-and-for-the-host", ("META-0*", "CHAL-02")),
        ("pointer-by-another-name-for-bad-tokens", ("CHAL-02",)),
        ("authorization-servers-by-turns", ("META-0[1-4]", "CHAL-02")),
        ("bad-tokens-busy", ("CHAL-0[4568]",)),
        ("one-algorithm-alone", ("SERVE-0*",)),
        ("project-compared", ("SERVE-01", "CHAL-0[1456]")),
        ("merchant-token-of-a-user", ("BACK-0[4578]", "BACK-10")),
        ("merchant-token-of-before-stands-in", ("BACK-0[78]",)),
        ("refused-until-authorized-again", ("BACK-07",)),
        ("four-workers", ("BACK-0[23]",)),
        ("orders-streamed", ("SERVE-01",)),
        ("scopes-in-an-array-alone", ("SERVE-01",)),
        ("nothing-beside-a-call", ("ROBUST-03",)),
    ],
)
def test_legal_choice_is_left_alone(name: str, only: tuple[str, ...], tmp_path: Path) -> None:
    result = judged((*WARM, "gateproof.reference.variants", "service", name), tmp_path, *only)

    verdicts = {rule.id: (rule.verdict.value, rule.reason) for rule in result.rules}
    assert {verdict for verdict, _ in verdicts.values()} == {"passed"}, (verdicts, failed(result))


def test_proof_of_services_is_a_command(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "--quick", "--only", "challenge-with-broken-quotes"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    kept = json.loads((tmp_path / "gateproof-proof" / "prove.json").read_text())
    assert kept["role"] == "service"
    assert kept["figures"]["caught"] == kept["figures"]["defects"] == 1


def test_variants_of_services_go_together() -> None:
    variants = [each for each in subjects("service") if each.kind == "variant"]

    for drawn in combinations(variants, 30, seed=1):
        names = drawn.name.split("+")
        decided = [part for each in variants if each.name in names for part in each.decides]
        assert len(decided) == len(set(decided))
