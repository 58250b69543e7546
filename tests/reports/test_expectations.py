"""Whoever receives a run says what it has to be."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gateproof.reports.expectations import KEYS, WrongExpectation, parse, unmet
from gateproof.reports.verdicts import RunResult, RunVerdict

RUN = RunResult(
    role="gateway",
    verdict=RunVerdict.CONFORMANT,
    reason="",
    rules=(),
    target={"name": "acme", "version": "2.1.0"},
    run={"certify": True, "strict": False, "faults": True, "started": "2026-11-21T10:00:00+00:00"},
)
NOW = datetime(2026, 11, 26, 10, 0, tzinfo=UTC)


def said(*texts: str) -> list[str]:
    return list(unmet(RUN, map(parse, texts), NOW))


def test_run_that_is_as_expected() -> None:
    met = ("verdict=conformant", "role=gateway", "target=acme", "version=2.1.0", "certify=true")
    assert said(*met, "strict=false", "faults=true", "max-age=5d") == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("verdict=not-conformant", "expected verdict not-conformant, found conformant"),
        ("target=other", "expected target other, found acme"),
        ("strict=true", "expected strict true, found false"),
        ("requirements=2026-11", "expected requirements 2026-11, found none"),
        ("max-age=4d", "expected a run of the last 4d, found one of 2026-11-21T10:00:00+00:00"),
        ("max-age=119h", "expected a run of the last 119h, found one of 2026-11-21T10:00:00+00:00"),
    ],
)
def test_difference_is_said(text: str, sentence: str) -> None:
    assert said(text) == [sentence]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("verdict", "KEY=VALUE"),
        ("verdikt=x", "did you mean verdict?"),
        ("certify=yes", "true or false"),
        ("max-age=30", "such as 30d"),
        ("max-age=x", "such as 30d"),
    ],
)
def test_wrong_expectation_is_wrong_usage(text: str, part: str) -> None:
    with pytest.raises(WrongExpectation, match=part):
        parse(text)


def test_help_names_every_key(capsys: pytest.CaptureFixture[str]) -> None:
    from gateproof.conformance.cli import main  # noqa: PLC0415 - the commands load the suite

    with pytest.raises(SystemExit):
        main(["verify", "--help"])
    printed = " ".join(capsys.readouterr().out.split())
    assert all(key in printed for key in KEYS)
