"""The symbol of each verdict, which is always shown together with a word."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from gateproof.reports.verdicts import RunVerdict, Verdict

SIGNS: Final = MappingProxyType(
    {
        Verdict.FAILED: "✗",
        Verdict.ERROR: "!",
        Verdict.NOT_TESTABLE: "○",
        Verdict.NOT_APPLICABLE: "·",
        Verdict.OBSERVED: "•",
        Verdict.PASSED: "✓",
    }
)

RUN_SIGNS: Final = MappingProxyType(
    {
        RunVerdict.CONFORMANT: SIGNS[Verdict.PASSED],
        RunVerdict.NOT_CONFORMANT: SIGNS[Verdict.FAILED],
        RunVerdict.INCOMPLETE: SIGNS[Verdict.NOT_TESTABLE],
        RunVerdict.NO_VERDICT: SIGNS[Verdict.ERROR],
    }
)
