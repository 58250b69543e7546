"""Each failed check leaves a file that repeats it, and nothing else does."""

from __future__ import annotations

import json

from gateproof.reports.replay_files import paths, render, selection, story
from gateproof.reports.verdicts import CheckResult, RuleResult, RunResult, RunVerdict, Verdict

HISTORY = {"kind": "history", "steps": [{"do": "register"}], "story": ["Agent 1 registers."]}


def result(*checks: CheckResult) -> RunResult:
    rule = RuleResult(
        id="ROBUST-04", level="entailed", title="", section="", verdict=Verdict.FAILED, checks=checks
    )
    run = {"seed": 7, "command": "gateproof run --seed 7"}
    return RunResult(
        role="gateway",
        verdict=RunVerdict.NOT_CONFORMANT,
        reason="",
        rules=(rule,),
        target={"name": "acme"},
        run=run,
    )


def check(name: str, verdict: Verdict = Verdict.FAILED, **more: object) -> CheckResult:
    return CheckResult(id=f"ROBUST-04/{name}", rule="ROBUST-04", verdict=verdict, **more)  # type: ignore[arg-type]


def test_failures_have_files_of_their_own_and_what_passed_has_none() -> None:
    found = result(
        check("one", replay=HISTORY), check("two[a/b]"), check("two[a-b]"), check("c", Verdict.PASSED)
    )
    assert paths(found) == {
        "ROBUST-04/one": "replay/ROBUST-04-one.json",
        "ROBUST-04/two[a/b]": "replay/ROBUST-04-two-a-b.json",
        "ROBUST-04/two[a-b]": "replay/ROBUST-04-two-a-b-2.json",
    }
    assert sorted(render(found)) == sorted(paths(found).values())


def test_file_says_what_to_repeat_and_how_it_was_run() -> None:
    files = render(result(check("one", replay=HISTORY), check("two")))
    assert json.loads(files["replay/ROBUST-04-one.json"]) == {
        "schema": "gateproof/replay/1",
        "role": "gateway",
        "target": "acme",
        "check": "ROBUST-04/one",
        "seed": 7,
        "command": "gateproof run --seed 7",
        "repeat": HISTORY,
    }
    assert json.loads(files["replay/ROBUST-04-two.json"])["repeat"] == {"kind": "check"}


def test_only_a_history_has_a_story() -> None:
    assert story(check("one", replay=HISTORY)) == ["Agent 1 registers."]
    assert story(check("one", replay={"kind": "race", "story": ["no"]})) == []
    assert story(check("one")) == []


def test_what_is_about_a_run_is_repeated_by_a_run_with_what_brought_it_up() -> None:
    def of_a_run(name: str, *rules: str) -> CheckResult:
        return check(name, replay={"kind": "run", "rules": list(rules)})

    alone = result(of_a_run("whole", "BACK-06", "ROBUST-04"))

    assert paths(alone) == render(alone) == {}
    assert selection(alone.rules[0]) == " --only ROBUST-04 --only BACK-06"
    assert selection(result(of_a_run("whole")).rules[0]) == ""
    assert selection(result(of_a_run("whole", "BACK-06"), check("own")).rules[0]) == " --only ROBUST-04"
    assert selection(result(check("own", Verdict.ERROR)).rules[0]) == " --only ROBUST-04"
