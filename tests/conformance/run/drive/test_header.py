"""The header of a record says what a run was told to leave out, in fields and not in its command alone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gateproof.conformance.cli.run_options import EXAMPLES
from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.run_header import header_of
from gateproof.reports.summary_texts import USUAL_EXAMPLES


@pytest.mark.parametrize("asked", [{}, {"faults": False}, {"examples": 5}, {"faults": False, "examples": 0}])
def test_header_says_whether_faults_were_left_out_and_how_much_was_generated(asked: dict[str, int]) -> None:
    header = header_of(Embedded(), None, (), RunOptions(**asked), datetime.now(UTC))

    said = {"faults": header.options.faults, "examples": header.options.examples}
    assert said == {"faults": True, "examples": USUAL_EXAMPLES} | asked


def test_what_is_usual_is_what_the_command_does_when_nobody_says_otherwise() -> None:
    assert EXAMPLES == RunOptions().examples == USUAL_EXAMPLES
