"""What the help and the first line of a run promise is what is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.checks import index
from conformance.cli import main
from conformance.cli.run import UNCHECKED
from conformance.vocabulary import ROLES
from reports.formats import DEFAULT, FORMATS


def test_roles_without_checks_are_the_ones_that_the_help_names() -> None:
    assert [role for role in ROLES if role in UNCHECKED] == [role for role in ROLES if not index(role)]


@pytest.mark.parametrize("command", ["run", "report", "merge"])
def test_help_names_every_format(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert f"{', '.join(FORMATS)}, all or none; default: {' '.join(DEFAULT)}" in said


def test_a_role_without_checks_is_not_said_to_be_tested(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    role = next(role for role in ROLES if not index(role))
    assert main(["run", role, "--out", str(tmp_path), "--format", "none"]) == 3
    said = capsys.readouterr().out
    assert f"no checks for the role {role} yet" in said
    assert "to the test" not in said
