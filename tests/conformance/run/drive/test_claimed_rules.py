"""A record that says something else of the rules than the catalogue is not believed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gateproof.conformance.cli import main
from gateproof.conformance.run.context.embedded import embedded_reference
from gateproof.conformance.run.drive import claimed_rules
from gateproof.conformance.run.drive.claimed_rules import claims_of
from gateproof.conformance.run.drive.options import RunOptions, Shard
from gateproof.conformance.run.drive.run_header import header_of
from gateproof.conformance.suite import rules
from gateproof.reports.header import Header, Proof

pytestmark = pytest.mark.attack

Change = Callable[[Header], Header]


def honest(**options: Any) -> Header:
    chosen = RunOptions(role="gateway", **options)
    selected = rules.select(rules.load().for_role("gateway"), chosen.only, chosen.skip)
    if chosen.shard is not None:
        selected = tuple(rule for place, rule in enumerate(selected) if chosen.shard.holds(place))
    reference = embedded_reference("gateway")
    return header_of(reference, None, selected, chosen, datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an installed package: no file differs from a commit."""
    ours = replace(claimed_rules.harness(), commit="c0" * 20, dirty=False)
    monkeypatch.setattr(claimed_rules, "harness", lambda: ours)
    monkeypatch.setattr("gateproof.conformance.run.drive.run_header.harness", lambda: ours)


def first_rule(**changes: Any) -> Change:
    def change(header: Header) -> Header:
        return replace(header, planned=(replace(header.planned[0], **changes), *header.planned[1:]))

    return change


def proof(**changes: Any) -> Change:
    def change(header: Header) -> Header:
        assert header.proof is not None
        return replace(header, proof=replace(header.proof, **changes))

    return change


FORGED: dict[str, tuple[Change, str]] = {
    "a rule cut out": (lambda header: replace(header, planned=header.planned[1:]), "is not in the plan"),
    "one rule alone": (lambda header: replace(header, planned=header.planned[:1]), "is not in the plan"),
    "a milder level": (first_rule(level="silent"), "has level 'silent', in the catalogue it has 'spec'"),
    "another title": (first_rule(title="It is served"), "has another title"),
    "another text": (first_rule(holds="Anything."), "has another holds than the catalogue"),
    "a check cut out": (first_rule(checks=("DISC-01/x",)), "has other checks than the catalogue"),
    "an unknown rule": (first_rule(id="DISC-99"), "was not selected"),
    "figures of the proof": (proof(figures={"defects": 9999}), "the figures of the proof"),
    "another proof": (proof(digest="0" * 64), "is not the one that is part of this gateproof"),
    "a milder owner": (
        lambda header: replace(
            header, step_owners=tuple(replace(each, level="rfc") for each in header.step_owners)
        ),
        "has level 'rfc'",
    ),
}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"only": ("REG-*",)},
        {"skip": ("VAULT-*", "REG-01")},
        {"shard": Shard(k=2, n=3)},
        {"only": ("*-0?",), "shard": Shard(k=1, n=2)},
    ],
)
def test_honest_record_says_what_the_catalogue_says(options: dict[str, Any]) -> None:
    header = honest(**options)
    claims = claims_of(header)
    assert claims.wrong == ()
    assert claims.unknown == ""
    whole = len(rules.load().for_role("gateway"))
    assert claims.share == f"{len(header.planned)} of {whole} rules of the role gateway"


@pytest.mark.parametrize("what", FORGED)
def test_forged_record_is_not_believed(what: str) -> None:
    change, said = FORGED[what]
    header = honest(only=("REG-*",)) if what == "a milder owner" else honest()
    claims = claims_of(change(header))
    assert any(said in each for each in claims.wrong), claims


@pytest.mark.parametrize("shard", ["x", "1", "1/0", "2/x"])
def test_shard_that_cannot_be_is_not_believed(shard: str) -> None:
    header = honest()
    forged = replace(header, options=replace(header.options, shard=shard))
    assert "there is no shard" in claims_of(forged).wrong[0]


def test_role_that_cannot_be_is_not_believed() -> None:
    assert "there is no role" in claims_of(replace(honest(), role="../x")).wrong[0]


def test_unknown_selection_is_not_believed() -> None:
    header = honest()
    forged = replace(header, options=replace(header.options, only=("NOPE-*",)))
    assert "unknown rule" in claims_of(forged).wrong[0]


def test_rules_of_another_version_are_not_compared_and_that_is_said() -> None:
    other = replace(honest(), catalogue_digest="0" * 64, planned=())
    claims = claims_of(other)
    assert (claims.wrong, claims.share) == ((), "")
    assert "the rules were not compared" in claims.unknown


def test_checks_of_another_state_are_not_compared_and_that_is_said() -> None:
    header = honest()
    other = first_rule(checks=("DISC-01/x",))(replace(header, harness=replace(header.harness, dirty=True)))
    claims = claims_of(other)
    assert claims.wrong == ()
    assert "the checks were not compared" in claims.unknown


def test_verify_says_what_part_of_the_rules_was_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["run", "--only", "DISC-0[1-3]", "--out", str(out), "--quiet"]) == 0
    capsys.readouterr()
    assert main(["verify", str(out)]) == 0
    assert (
        f"3 of {len(rules.load().for_role('gateway'))} rules of the role gateway" in capsys.readouterr().out
    )


def test_record_without_a_proof_claims_none() -> None:
    assert claims_of(replace(honest(), proof=None)).wrong == ()
    assert isinstance(honest().proof, Proof)
