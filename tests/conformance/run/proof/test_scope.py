"""Under how much of the suite a quick proof puts a defect."""

from __future__ import annotations

from gateproof.conformance.checks import index
from gateproof.conformance.run.proof.implementations import Subject, subjects
from gateproof.conformance.run.proof.scope import SMOKE, Effort, asks_for, checks_for, longest_first
from gateproof.conformance.suite.proven import proven

NEW = Subject(kind="defect", name="a-defect-of-today", what="what it does", rules=("REG-02",))


def right(defect: Subject) -> set[str]:
    """Every case of the rule that a defect has to be caught by."""
    return {case for check in index("gateway")[defect.rules[0]] for case in check.ids()}


def asked(defect: Subject) -> set[str]:
    """Those of them that a quick proof asks of it."""
    chosen = checks_for(defect, "gateway", Effort.QUICK, 1)
    assert chosen is not None
    return right(defect) & chosen


def test_defect_that_no_shipped_proof_tried_meets_all_of_its_rule() -> None:
    assert NEW.name not in proven("gateway").defects
    assert asked(NEW) == right(NEW)


def test_defect_that_the_shipped_proof_tried_may_meet_less_of_it() -> None:
    known = [
        subject
        for subject in subjects("gateway")
        if subject.kind == "defect" and subject.name in proven("gateway").defects
    ]
    assert all(asked(defect) for defect in known)
    assert any(asked(defect) < right(defect) for defect in known)


def all_asked(effort: Effort = Effort.QUICK) -> dict[str, frozenset[str]]:
    """What a proof asks of every defect that was tried."""
    defects = [each for each in subjects("gateway") if each.name in proven("gateway").defects]
    chosen = {each.name: checks_for(each, "gateway", effort, 1) for each in defects}
    return {name: asked_of for name, asked_of in chosen.items() if asked_of is not None}


def test_quick_proof_sees_every_check_fail_that_was_seen_failing() -> None:
    functions = {case.partition("[")[0] for asked_of in all_asked().values() for case in asked_of}
    there = {f"{check.rule}/{check.name}" for checks in index("gateway").values() for check in checks}

    assert proven("gateway").seen() & there <= functions


def test_some_defects_walk_a_step_of_the_smoke_set_and_some_do_not() -> None:
    steps = {case for rule in SMOKE["gateway"] for check in index("gateway")[rule] for case in check.ids()}
    known = proven("gateway").defects
    walking = [bool(asked_of & steps - set(known[name].checks)) for name, asked_of in all_asked().items()]

    assert 0.2 < sum(walking) / len(walking) < 0.5


def test_secret_of_the_whole_run_is_looked_for_after_all_of_the_smoke_set() -> None:
    whole = {
        case
        for checks in index("gateway").values()
        for check in checks
        if check.whole_run
        for case in check.ids()
    }
    walks = [asked_of for asked_of in all_asked().values() if asked_of & whole]

    assert walks
    for rule in SMOKE["gateway"]:
        steps = {case for check in index("gateway")[rule] for case in check.ids()}
        assert all(asked_of & steps for asked_of in walks), rule


def test_proof_knows_whether_it_needs_the_intercepting_proxy() -> None:
    """A wrong document meets no merchant; a variant in full meets everything."""
    document = subjects("gateway", ["keys-share-a-kid"])
    variant = subjects("gateway", ["redirects-by-303"])
    need = "intercepting-proxy"
    assert not asks_for(need, document, "gateway", Effort.QUICK, 1)
    assert asks_for(need, variant, "gateway", Effort.FULL, 1)
    assert asks_for(need, subjects("gateway"), "gateway", Effort.QUICK, 1)


def test_what_took_long_before_is_begun_first() -> None:
    every = [each for each in subjects("service") if each.kind == "defect"]
    first = longest_first(every, "service", Effort.QUICK, 1)[0]
    known = proven("service").defects
    assert known[first.name].took_s == max(caught.took_s for caught in known.values())
