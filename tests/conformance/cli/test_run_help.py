"""What the help and the first line of a run promise is what is there."""

from __future__ import annotations

import pytest

from gateproof.conformance.checks import index
from gateproof.conformance.cli import main
from gateproof.conformance.suite.vocabulary import ROLES
from gateproof.reports.formats import DEFAULT, FORMATS


def test_every_role_has_checks() -> None:
    assert [role for role in ROLES if not index(role)] == []


@pytest.mark.parametrize("command", ["run", "report", "merge"])
def test_help_names_every_format(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert f"{', '.join(FORMATS)}, all or none; default: {' '.join(DEFAULT)}" in said
