"""A policy says which of its lines a run violates."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gateproof.conformance.cli import main
from gateproof.reports.policy import PolicyError, parse, violations
from gateproof.reports.verdicts import RuleResult, RunResult, RunVerdict, Verdict

NOW = datetime(2026, 11, 26, 10, 0, tzinfo=UTC)
KEY = "ab" * 32
RULE = RuleResult(
    id="REG-06",
    level="spec",
    verdict=Verdict.PASSED,
    reason="",
    title="",
    section="",
    holds="",
    why="",
    standard="",
    checks=(),
)
RUN = RunResult(
    role="gateway",
    verdict=RunVerdict.CONFORMANT,
    reason="",
    rules=(RULE,),
    target={"name": "acme", "version": "2.1.0"},
    run={
        "certify": True,
        "strict": True,
        "faults": True,
        "examples": 20,
        "selection": {"only": [], "skip": []},
        "started": "2026-11-21T10:00:00+00:00",
    },
)
POLICY = f"""# What we accept
verdict = "conformant"
role = "gateway"
target = "acme"
version = "2.1.0"
certify = true
strict = true
faults = true
examples = 20
whole = true
baselined = 0
max-age = "30d"
signers = ["{KEY}"]
"""


def violated(result: RunResult, signer: str = KEY, now: datetime = NOW) -> list[str]:
    return list(violations(parse(POLICY, "accepted.toml"), result, signer, now))


def of_run(**values: Any) -> RunResult:
    return replace(RUN, run={**RUN.run, **values})


def test_run_that_is_accepted_violates_nothing() -> None:
    assert violated(RUN) == []


VIOLATIONS: dict[str, tuple[RunResult, str]] = {
    "verdict": (replace(RUN, verdict=RunVerdict.NOT_CONFORMANT), "accepted.toml:2: verdict:"),
    "role": (replace(RUN, role="agent"), "accepted.toml:3: role:"),
    "target": (replace(RUN, target={"name": "other", "version": "2.1.0"}), "accepted.toml:4: target:"),
    "version": (replace(RUN, target={"name": "acme", "version": "3"}), "accepted.toml:5: version:"),
    "certify": (of_run(certify=False), "accepted.toml:6: certify:"),
    "strict": (of_run(strict=False), "accepted.toml:7: strict:"),
    "faults": (of_run(faults=False), "accepted.toml:8: faults:"),
    "examples": (of_run(examples=5), "accepted.toml:9: examples: expected at least 20, found 5"),
    "whole": (of_run(selection={"only": ["REG-*"], "skip": []}), "accepted.toml:10: whole:"),
    "baselined": (
        replace(RUN, rules=(replace(RULE, verdict=Verdict.FAILED, baselined="known"),)),
        "accepted.toml:11: baselined: expected at most 0, found 1",
    ),
    "max-age": (of_run(started="2026-10-01T10:00:00+00:00"), "accepted.toml:12: max-age:"),
}


@pytest.mark.parametrize("line", VIOLATIONS)
def test_violated_line_is_named_alone(line: str) -> None:
    result, said = VIOLATIONS[line]
    (found,) = violated(result)
    assert found.startswith(said)


@pytest.mark.parametrize("signer", ["cd" * 32, ""])
def test_other_signer_is_named(signer: str) -> None:
    (found,) = violated(RUN, signer)
    assert found.startswith("accepted.toml:13: signers: signed by")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('verdikt = "x"', "accepted.toml:1: verdikt: expected one of .*did you mean verdict"),
        ("\ncertify = 1", "accepted.toml:2: certify: found 1, expected true or false"),
        ('max-age = "a month"', "expected a text such as 30d"),
        ('signers = ["me"]', "expected a list of SHA-256"),
        ("baselined = -1", "found -1, expected the greatest number"),
        ("baselined = true", "found True, expected the greatest number"),
        ("certify = ", "accepted.toml: "),
        ("[policy]\ncertify = true", "accepted.toml:1: policy: expected one of"),
    ],
)
def test_wrong_policy_is_wrong_usage(text: str, said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        parse(text, "accepted.toml")


def test_verify_names_what_is_not_accepted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, file = tmp_path / "out", tmp_path / "accepted.toml"
    assert main(["run", "--only", "DISC-01", "--out", str(out), "--quiet"]) == 0
    capsys.readouterr()
    file.write_text('verdict = "conformant"\nrole = "gateway"\nmax-age = "1d"\n')
    assert main(["verify", str(out), "--policy", str(file)]) == 0
    file.write_text("certify = true\nwhole = true\n")
    assert main(["verify", str(out), "--policy", str(file)]) == 1
    said = capsys.readouterr().out
    assert f"not accepted: {file}:1: certify: expected certify true, found false" in said
    assert f"not accepted: {file}:2: whole: expected true, found a part of the rules" in said
    file.write_text("certify = 3\n")
    assert main(["verify", str(out), "--policy", str(file)]) == 2
    assert main(["verify", str(out), "--policy", str(tmp_path / "none.toml")]) == 2
