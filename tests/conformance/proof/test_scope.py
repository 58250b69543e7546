"""Under how much of the suite a quick proof puts a defect."""

from __future__ import annotations

from conformance.checks import index
from conformance.proven import proven
from conformance.run.scope import Effort, checks_for
from conformance.run.subjects import Subject, subjects

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
