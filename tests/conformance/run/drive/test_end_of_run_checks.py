"""What was found in a whole run says which rules brought it up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gateproof.conformance.kit.gateway.received import Leak, brought_up
from gateproof.conformance.run.replay.stored_failure import NotAFailure, stored
from gateproof.conformance.suite.claims import tallying
from gateproof.reports.replay_files import SCHEMA
from gateproof.reports.summary_texts import again
from gateproof.reports.verdicts import CheckResult, RuleResult, RunResult, RunVerdict, Verdict

WHOLE = "SECRET-02/merchant_token_reached_no_agent"


def leak(check: str) -> Leak:
    return Leak(
        kind="merchant_access_token",
        check=check,
        step="operation",
        party="agent",
        part="body",
        how="as it is",
        status=500,
    )


@pytest.mark.parametrize(
    ("checks", "rules"),
    [
        (["BACK-06/a[1]", "BACK-06/a[2]", "META-01/b"], ["BACK-06", "META-01"]),
        (["the whole run"], []),
        (["A-1/a", "B-1/a", "C-1/a", "D-1/a"], []),
        ([], []),
    ],
)
def test_rules_that_brought_something_up_are_kept_where_they_are_few(
    checks: list[str], rules: list[str]
) -> None:
    with tallying() as tally:
        brought_up([leak(check) for check in checks])

    assert tally.replay == {"kind": "run", "rules": rules}


@pytest.mark.parametrize(
    ("command", "rules", "said"),
    [
        (
            "gateproof run --seed 7 --certify",
            ["BACK-06"],
            "gateproof run --seed 7 --only SECRET-02 --only BACK-06",
        ),
        ("gateproof run --shard 1/2 --only 'S*' --seed 7", [], "gateproof run --seed 7"),
        (
            "gateproof run --target 'my orders.toml' --baseline b.toml --seed 7 --strict",
            ["SECRET-02"],
            "gateproof run --target 'my orders.toml' --seed 7 --only SECRET-02",
        ),
    ],
)
def test_command_that_repeats_it_selects_those_and_nothing_else(
    command: str, rules: list[str], said: str
) -> None:
    check = CheckResult(
        id=WHOLE, rule="SECRET-02", verdict=Verdict.FAILED, replay={"kind": "run", "rules": rules}
    )
    rule = RuleResult(
        id="SECRET-02", level="spec", title="", section="", verdict=Verdict.FAILED, checks=(check,)
    )
    result = RunResult(
        role="service",
        verdict=RunVerdict.NOT_CONFORMANT,
        reason="",
        rules=(rule,),
        target={"name": "orders"},
        run={"seed": 7, "command": command},
    )
    assert again(result, rule) == said


@pytest.mark.parametrize(
    ("rules", "said"), [(["BACK-06"], " --only SECRET-02 --only BACK-06"), ([], ""), (5, ""), (None, "")]
)
def test_replay_names_the_run_that_repeats_it(rules: object, said: str, tmp_path: Path) -> None:
    document = {
        "schema": SCHEMA,
        "role": "service",
        "target": "orders",
        "check": WHOLE,
        "seed": 7,
        "command": "gateproof run service --seed 7 --certify",
        "repeat": {"kind": "run", "rules": rules},
    }
    file = tmp_path / "failure.json"
    file.write_text(json.dumps(document))

    with pytest.raises(NotAFailure) as refused:
        stored(file)

    assert str(refused.value).endswith(f"repeat the run with gateproof run service --seed 7{said}")
