"""After a change, only what depends on it is tried again; the rest is carried over from the shipped proof."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gateproof.conformance.checks import index
from gateproof.conformance.cli import main
from gateproof.conformance.run.proof import source_digests, sources
from gateproof.conformance.run.proof.implementations import Subject, combinations, subjects
from gateproof.conformance.run.proof.proof import Outcome, Proof
from gateproof.conformance.run.proof.runs import Trial
from gateproof.conformance.run.proof.scope import SMOKE, Effort, checks_for
from gateproof.conformance.run.proof.since import Since, short_name, since_the_shipped
from gateproof.conformance.suite import proven
from gateproof.conformance.suite.vocabulary import ROLES
from gateproof.package import ROOT


# The rule that catches the first is checked in claim.py, that of the second in keys.py.
@cache
def exp() -> Subject:
    (found,) = subjects("gateway", ["exp-as-a-string"])
    return found


@cache
def kid() -> Subject:
    (found,) = subjects("gateway", ["keys-share-a-kid"])
    return found


@cache
def variants() -> list[Subject]:
    return subjects("gateway", ["redirects-by-303", "codes-of-128-bits"])


@cache
def pair() -> list[Subject]:
    return combinations(variants(), 1, 7)


# Asked whenever something is: the basic checks, and the checks of the whole run.
BESIDE = frozenset(
    case
    for checks in index("gateway").values()
    for check in checks
    for case in check.ids()
    if check.whole_run or check.rule in SMOKE["gateway"]
)


def caught_by(subject: Subject) -> str:
    """A case of a check of the right rule that exists."""
    cases = sorted(case for case in checks_for(subject, "gateway", Effort.FULL, 1) or ())
    return next(case for case in cases if case.startswith(f"{subject.rules[0]}/"))


def shipped(changed: str = "", **other: Any) -> dict[str, Any]:
    """What ships, made of what is there now, but for one file."""
    of = source_digests.made_of("gateway").as_json()
    for group in ("checks", "subjects"):
        of[group] = {name: "0" if name == changed else digest for name, digest in of[group].items()}
    return {
        "figures": {"checks": 1},
        "seed": 1,
        "defects": {
            each.name: {
                "what": each.what,
                "rules": list(each.rules),
                "checks": [caught_by(each)],
                "took_s": 1.0,
            }
            for each in (exp(), kid())
        },
        "variants": [each.name for each in variants()],
        "alone": [each.name for each in variants()],
        "combined": [short_name(each) for each in pair()],
        "later": {},
        "made_of": of,
        **other,
    }


@pytest.fixture
def ships(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Makes something the shipped proof of gateways."""
    monkeypatch.setattr(proven, "_FOLDER", tmp_path / "proven")

    def ship(what: Mapping[str, Any]) -> None:
        proven.ship("gateway", what)
        proven.proven.cache_clear()

    yield ship
    proven.proven.cache_clear()


def since(*found: Subject) -> Since:
    return since_the_shipped("gateway", found, Effort.FULL, 1)


def test_nothing_is_tried_again_where_nothing_changed(ships: Any) -> None:
    ships(shipped())

    found = since(exp(), kid(), *variants(), *pair())

    assert not found.left
    assert found.carried == (exp(), kid(), *variants(), *pair())
    assert found.why == f"0 checks changed; {len(found.carried)} of {len(found.carried)} need no new trial"


def test_a_changed_module_of_checks_is_asked_and_nothing_else(ships: Any) -> None:
    ships(shipped("conformance/checks/gateway/keys.py"))

    left = since(exp(), kid(), *variants()).left

    for each in (exp(), *variants()):
        asked = left[each].asked if each in left else frozenset()
        assert asked is not None
        assert {"KEYS"} <= {case.partition("-")[0] for case in asked - BESIDE} <= {"KEYS"} or not asked
        assert each is not exp() or each not in left or left[each].caught_before
    assert variants()[0] in left
    # Its own rule stands in that module, so it has to be caught again.
    assert not left[kid()].caught_before
    assert caught_by(kid()) in (left[kid()].asked or ())


def test_a_module_that_checks_share_changes_those_that_import_it(ships: Any) -> None:
    ships(shipped("conformance/checks/gateway/_timestamps.py"))

    asked = since(variants()[0]).left[variants()[0]].asked

    assert asked
    assert {case.partition("-")[0] for case in asked - BESIDE} <= {
        "CLAIM",
        "REDEEM",
        "CODE",
        "VAULT",
        "KEYS",
        "PROXY",
    }


def test_a_subject_whose_file_changed_is_tried_whole(ships: Any) -> None:
    (file,) = [
        name
        for name in source_digests.made_of("gateway").subjects
        if f'"{exp().name} (' in (source_digests.ROOT / name).read_text()
    ]
    ships(shipped(file))

    left = since(exp(), variants()[0]).left

    assert list(left) == [exp()]
    assert left[exp()].asked == checks_for(exp(), "gateway", Effort.FULL, 1)
    assert not left[exp()].caught_before


def test_what_the_full_proof_did_not_try_is_tried_whole(ships: Any) -> None:
    what = shipped()
    declared = {**what["defects"][kid().name], "rules": ["KEYS-05"]}
    ships(
        {
            **what,
            "defects": {kid().name: declared},
            "later": {exp().name: what["defects"][exp().name]},
            "combined": [],
        }
    )

    assert list(since(exp(), kid(), variants()[0], *pair()).left) == [exp(), kid(), *pair()]


def test_checks_of_the_whole_run_are_asked_of_whoever_is_asked_something(ships: Any) -> None:
    ships(shipped("conformance/checks/gateway/keys.py"))

    asked = since(variants()[0]).left[variants()[0]].asked

    assert asked is not None
    assert asked >= BESIDE


def test_check_counts_as_seen_on_what_is_there_as_it_was(ships: Any) -> None:
    ships(shipped())

    assert since(exp()).seen == {caught_by(exp()).partition("[")[0]}


def test_another_seed_is_no_proof_of_the_same(ships: Any) -> None:
    ships({**shipped(), "seed": 2})

    with pytest.raises(ValueError, match="has seed 2"):
        since(exp())


def test_everything_is_tried_where_what_all_depend_on_changed(ships: Any) -> None:
    what = shipped()
    ships({**what, "made_of": {**what["made_of"], "common": "0"}})

    found = since(exp(), variants()[0])

    assert list(found.left) == [exp(), variants()[0]]
    assert found.left[variants()[0]].asked is None
    assert "all are tried" in found.why


def trial(subject: Subject, *failed: str, caught_before: bool = False) -> Trial:
    return Trial(
        subject=subject,
        failed=tuple(dict.fromkeys(each.partition("/")[0] for each in failed)),
        failed_checks=failed,
        broken={},
        untested={},
        reason="",
        duration_s=2.0,
        caught_before=caught_before,
    )


def test_defect_that_was_caught_by_what_did_not_change_need_not_fail() -> None:
    assert not trial(exp(), caught_before=True).fault()
    assert trial(exp()).fault().startswith("not caught by CLAIM-04")
    assert trial(exp(), "REG-01/x", caught_before=True).fault().startswith("undeclared: REG-01")


def test_what_was_carried_over_counts_and_ships_again(ships: Any) -> None:
    before = shipped("conformance/checks/gateway/keys.py")
    ships(before)
    left = since(exp(), kid(), *variants())
    only = replace(left, carried=(exp(), *variants()), left={kid(): left.left[kid()]})
    proof = Proof(
        role="gateway",
        effort=Effort.FULL,
        seed=1,
        trials=(trial(kid(), caught_by(kid())),),
        complete=True,
        took_s=3.0,
        selected=True,
        since=only,
    )

    assert proof.outcome() is Outcome.HOLDS
    assert proof.figures()["defects"] == proof.figures()["caught"] == 2
    assert proof.figures()["variants"] == proof.figures()["left_alone"] == len(variants())
    said = proof.as_json()["since"]
    assert said["carried"] == {"defect": [exp().name], "variant": [each.name for each in variants()]}
    again = proof.to_ship(before)
    assert again["defects"][exp().name] == before["defects"][exp().name]
    assert again["defects"][kid().name]["took_s"] == 2.0
    assert again["variants"] == before["variants"]
    assert again["made_of"] == source_digests.made_of("gateway").as_json()


def test_check_that_was_not_asked_again_is_kept_with_its_defect(ships: Any) -> None:
    """A defect of a changed check may be the only one on which an unchanged check of another rule failed."""
    before = shipped("conformance/checks/gateway/keys.py")
    before["defects"][kid().name]["checks"].append(caught_by(exp()))
    ships(before)
    proof = Proof(
        role="gateway",
        effort=Effort.FULL,
        seed=1,
        trials=(trial(kid(), caught_by(kid())),),
        complete=True,
        took_s=3.0,
        since=since(kid()),
    )

    assert proof.to_ship(before)["defects"][kid().name]["checks"] == [caught_by(kid()), caught_by(exp())]


def test_command_carries_over_what_did_not_change(ships: Any, tmp_path: Path, capsys: Any) -> None:
    ships(shipped())

    code = main(["prove", "--since", "--only", exp().name, "--out", str(tmp_path / "out"), "--no-color"])

    assert code == 0
    assert "1 of 1 need no new trial" in capsys.readouterr().out
    kept = json.loads((tmp_path / "out" / "prove.json").read_text())
    assert kept["since"]["carried"]["defect"] == [exp().name]
    assert kept["figures"]["caught"] == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "does not say what it was made of: leave out --since"),
        (["--shard", "1/2"], "--since does not go with --shard"),
        (["--new"], "--since does not go with --new"),
    ],
)
def test_since_that_has_nothing_to_go_on_is_wrong_usage(
    ships: Any, tmp_path: Path, capsys: Any, options: list[str], said: str
) -> None:
    ships({name: value for name, value in shipped().items() if name != "made_of"})

    code = main(["prove", "--since", *options, "--out", str(tmp_path / "out")])

    assert code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("role", ROLES)
def test_no_source_of_a_role_uses_what_is_left_out_of_its_digest(role: str) -> None:
    places = (f"conformance/checks/{role}", f"conformance/kit/{role}", f"conformance/run/{role}")
    subject = (f"reference/{part}{role}" for part in ("", "defects/", "variants/"))
    whole = {"gateway": ("conformance/histories", "conformance/signin")}
    own = [ROOT / place for place in (*places, *subject, *whole.get(role, ()))]
    # The contexts of all roles are one type.
    contexts = ROOT / "conformance" / "run" / "context"
    every = [path for path in sources.of_the_packages() if not path.is_relative_to(contexts)]

    used = sources.followed((path for path in every if any(map(path.is_relative_to, own))), every)

    left_out = [ROOT / place for place in source_digests.OF_OTHER_ROLES[role]]
    assert all(place.exists() for place in left_out)
    assert [path for path in used if any(map(path.is_relative_to, left_out))] == []
