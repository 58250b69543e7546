"""What a proof makes of its trials: who is at fault, which checks were never seen failing, what ships."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from gateproof.conformance.checks import index
from gateproof.conformance.run.proof.implementations import Subject
from gateproof.conformance.run.proof.proof import Outcome, Proof
from gateproof.conformance.run.proof.runs import UNDECIDED, Trial, trial_of
from gateproof.conformance.run.proof.scope import Effort
from gateproof.reports.verdicts import CheckResult, RuleResult, RunResult, RunVerdict, Verdict


def trial(
    name: str,
    *rules: str,
    failed: Sequence[str] = (),
    checks: Sequence[str] = (),
    kind: str = "defect",
    broken: Sequence[str] = (),
    untested: dict[str, str] | None = None,
    said: dict[str, str] | None = None,
    no_overlap: Sequence[str] = (),
) -> Trial:
    return Trial(
        subject=Subject(kind=kind, name=name, what="what it does", rules=tuple(rules)),  # type: ignore[arg-type]
        failed=tuple(failed),
        failed_checks=tuple(checks),
        broken=dict.fromkeys(broken, "the harness broke: KeyError at wire/client.py:1"),
        untested=untested or {},
        reason="",
        duration_s=0.1,
        said=said or {},
        no_overlap=tuple(no_overlap),
    )


def proof(*trials: Trial, complete: bool = True) -> Proof:
    return Proof(
        role="gateway",
        effort=Effort.FULL,
        seed=1,
        trials=trials,
        complete=complete,
        took_s=1.0,
        selected=True,
    )


@pytest.mark.parametrize(
    ("tried", "fault"),
    [
        (trial("a", "REG-01", failed=["REG-01"]), ""),
        (trial("a", "REG-01", "REG-02", failed=["REG-01", "REG-02"]), ""),
        (trial("a", "REG-01"), "not caught by REG-01"),
        (trial("a", "REG-01", "REG-02", failed=["REG-02"]), "not caught by REG-01; failed instead: REG-02"),
        (
            trial("a", "REG-01", said={"REG-01": "REG-01/x: left out"}),
            "not caught by REG-01; REG-01/x: left out",
        ),
        (trial("a", "REG-01", failed=["REG-01", "REG-03"]), "undeclared: REG-03"),
        (
            trial(
                "a", "REG-01", failed=["REG-01", "REG-03"], said={"REG-01": "no", "REG-03": "REG-03/y: 500"}
            ),
            "undeclared: REG-03; REG-03/y: 500",
        ),
        (
            trial("a", "REG-01", failed=["REG-01"], broken=["TLS-01"]),
            "the harness broke in TLS-01; first: the harness broke: KeyError at wire/client.py:1",
        ),
        (trial("a", "REG-01", no_overlap=["REG-01/x"]), "a race did not overlap: REG-01/x"),
        (
            replace(trial("a", "ROBUST-03"), times_unclear=("ROBUST-03/x",)),
            "times were unclear: ROBUST-03/x",
        ),
        (
            trial("a", "REG-01", failed=["REG-01"], no_overlap=["REG-01/x"]),
            "a race did not overlap: REG-01/x",
        ),
        (trial("v", kind="variant", failed=["REG-03"], no_overlap=["REG-01/x"]), "false alarm: REG-03"),
        (
            trial("v", kind="variant", untested={"REG-01": "why"}, no_overlap=["REG-01/x"]),
            "a race did not overlap: REG-01/x",
        ),
        (trial("v", kind="variant"), ""),
        (trial("v", kind="variant", failed=["REG-03"]), "false alarm: REG-03"),
        (trial("v", "REG-03", kind="variant", failed=["REG-03"]), ""),
        (trial("v", kind="variant", untested={"REG-03": "why"}), "left untested: REG-03: why"),
    ],
)
def test_fault_of_a_trial(tried: Trial, fault: str) -> None:
    assert tried.fault() == fault
    open_ = fault.startswith(UNDECIDED)
    outcome = Outcome.OPEN if open_ else Outcome.FAILS if fault else Outcome.HOLDS
    assert proof(tried).outcome() is outcome


def test_check_that_no_defect_made_fail_is_named() -> None:
    one = index("gateway")["REG-01"][0]
    seen = proof(trial("a", "REG-01", failed=["REG-01"], checks=one.ids()))
    assert f"REG-01/{one.name}" not in seen.unseen
    assert len(seen.unseen) == seen.figures()["checks"] - 1
    assert seen.outcome() is Outcome.HOLDS
    assert replace(seen, selected=False).outcome() is Outcome.FAILS
    assert replace(seen, selected=False, shard="1/2").outcome() is Outcome.HOLDS


def test_variant_makes_no_check_seen() -> None:
    one = index("gateway")["REG-01"][0]
    seen = proof(trial("v", "REG-01", kind="variant", failed=["REG-01"], checks=one.ids()))
    assert f"REG-01/{one.name}" in seen.unseen


def test_interrupted_proof_holds_nothing() -> None:
    good = trial("a", "REG-01", failed=["REG-01"])
    assert proof(good, complete=False).outcome() is Outcome.OPEN


def test_fault_weighs_more_than_a_race_that_did_not_overlap() -> None:
    vain, bad = trial("a", "REG-01", no_overlap=["REG-01/x"]), trial("v", kind="variant", failed=["REG-03"])
    assert proof(vain, bad).outcome() is Outcome.FAILS
    assert Outcome.OPEN == 3


def test_what_ships_covers_every_check_that_was_seen() -> None:
    checks = [f"REG-01/check_{letter}[case {number}]" for letter in "abcdef" for number in range(3)]
    shipped = proof(
        trial("one", "REG-01", failed=["REG-01"], checks=checks),
        trial(
            "two", "REG-02", failed=["REG-02", "REG-03"], checks=["REG-02/x", "REG-03/y[1]", "REG-03/y[2]"]
        ),
    ).to_ship()
    kept = [check_id for defect in shipped["defects"].values() for check_id in defect["checks"]]
    assert {check_id.partition("[")[0] for check_id in kept} == {
        *(f"REG-01/check_{letter}" for letter in "abcdef"),
        "REG-02/x",
        "REG-03/y",
    }
    assert len(kept) == 8, "of each check one case"
    assert shipped["figures"]["caught"] == 1, "a defect that fails an undeclared rule does not count"


def test_what_is_added_later_leaves_the_figures_of_the_full_proof() -> None:
    shipped = proof(trial("old", "DISC-01", failed=["DISC-01"], checks=["DISC-01/a"])).to_ship()
    new = proof(trial("new", "DISC-01", failed=["DISC-01"], checks=["DISC-01/b"]))

    added = new.added_to(shipped)

    assert added["figures"] == shipped["figures"]
    assert added["defects"] == shipped["defects"]
    assert added["later"]["new"]["checks"] == ["DISC-01/b"]


@pytest.mark.parametrize(("effort", "variants"), [(Effort.QUICK, []), (Effort.FULL, ["legal"])])
def test_variant_is_added_by_a_full_proof_only(effort: Effort, variants: list[str]) -> None:
    shipped = proof(trial("old", "DISC-01", failed=["DISC-01"], checks=["DISC-01/a"])).to_ship()
    new = replace(proof(trial("legal", kind="variant")), effort=effort)

    assert new.added_to(shipped)["variants"] == variants


def test_check_that_saw_a_defect_alone_stays_first_where_it_saw_it_again() -> None:
    tried = trial("old", "DISC-01", failed=["DISC-01"], checks=["DISC-01/a", "DISC-01/b[x]", "DISC-01/c"])
    entry = {"what": "", "rules": ["DISC-01"]}
    for before, first in ((["DISC-01/b[x]", "DISC-01/a"], "DISC-01/b[x]"), (["DISC-01/z"], "DISC-01/a")):
        shipped = {"defects": {"old": {**entry, "checks": before}}, "later": {}}
        assert proof(tried).to_ship(shipped)["defects"]["old"]["checks"][0] == first


def test_trial_says_what_the_first_check_said_that_failed_or_else_was_left_out() -> None:
    def rule(name: str, verdict: Verdict, *checks: CheckResult) -> RuleResult:
        return RuleResult(id=name, level="spec", title="", section="", verdict=verdict, checks=checks)

    def check(name: str, verdict: Verdict, **texts: str) -> CheckResult:
        return CheckResult(id=name, rule=name.partition("/")[0], verdict=verdict, **texts)  # type: ignore[arg-type]

    left_out = check("REG-01/a", Verdict.NOT_TESTABLE, message="needs users")
    failed = check("REG-01/b", Verdict.FAILED, message="registration: expected status 201", got="status 500")
    result = RunResult(
        role="gateway",
        verdict=RunVerdict.NOT_CONFORMANT,
        reason="",
        rules=(
            rule("REG-01", Verdict.FAILED, check("REG-01/0", Verdict.PASSED), left_out, failed),
            rule("REG-02", Verdict.NOT_TESTABLE, replace(left_out, id="REG-02/a")),
            rule("REG-03", Verdict.PASSED, check("REG-03/a", Verdict.PASSED)),
        ),
        target={},
        run={"duration_s": 1.0},
    )

    assert trial_of(trial("a", "REG-01").subject, result).said == {
        "REG-01": "REG-01/b: registration: expected status 201, got status 500",
        "REG-02": "REG-02/a: needs users",
    }
