"""The table of output formats. A new format is a module in this package and a row here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Final, cast

from gateproof.reports.verdicts import RunResult

Render = Callable[[RunResult], dict[str, bytes]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Format:
    """One output format.

    ``owns`` are patterns for the files that it writes. The first pattern must match only files of this
    format. The others may have common names: they count only if the first pattern matches something.
    """

    name: str
    what: str
    module: str
    owns: tuple[str, ...]
    default: bool = False

    def render(self, result: RunResult) -> dict[str, bytes]:
        """The files of this format by path; the module is imported on first use."""
        return cast("Render", import_module(f"gateproof.reports.{self.module}").render)(result)

    def files_in(self, folder: Path) -> list[Path]:
        """The files of this format in a folder."""
        first = sorted(folder.glob(self.owns[0]))
        if not first:
            return []
        return first + [path for pattern in self.owns[1:] for path in sorted(folder.glob(pattern))]


# Our identifiers are UUIDs of version 5; other writers use version 4.
_ALLURE = "allure-results/????????-????-5???-????-????????????-"
_ROWS = (
    Format(
        name="json",
        what="the whole run for programs",
        module="report_json",
        owns=("report.json",),
        default=True,
    ),
    Format(
        name="html",
        what="the whole run for people, one page",
        module="html",
        owns=("report.html",),
        default=True,
    ),
    Format(
        name="junit",
        what="rules as test cases, for CI",
        module="junit",
        owns=("junit.xml",),
        default=True,
    ),
    Format(
        name="summary",
        what="Markdown for a job's summary or a comment",
        module="summary",
        owns=("summary.md",),
        default=True,
    ),
    Format(
        name="replay",
        what="what repeats each failure, for gateproof replay",
        module="replay_files",
        owns=("replay/*.json",),
        default=True,
    ),
    Format(
        name="pictures",
        what="screenshots of pages on which a sign-in stopped",
        module="pictures",
        owns=("pictures/*.png",),
        default=True,
    ),
    Format(
        name="sarif",
        what="failures as code scanning alerts (SARIF 2.1.0)",
        module="sarif",
        owns=("gateproof.sarif",),
    ),
    Format(
        name="har",
        what="the exchanges for a browser's network tab (HAR 1.2)",
        module="har",
        owns=("exchanges.har",),
    ),
    Format(
        name="oscal",
        what="assessment results for an auditor's tools (OSCAL 1.2.1)",
        module="oscal",
        owns=("oscal-assessment-results.json",),
    ),
    Format(name="badge", what="the verdict as a small picture", module="badge", owns=("badge.svg",)),
    Format(
        name="allure",
        what="results from which Allure 2 and 3 make their reports",
        module="allure",
        owns=(
            f"{_ALLURE}result.json",
            f"{_ALLURE}attachment.txt",
            "allure-results/categories.json",
            "allure-results/environment.properties",
            "allure-results/executor.json",
        ),
    ),
)

FORMATS: Final = MappingProxyType({row.name: row for row in _ROWS})
DEFAULT: Final = tuple(row.name for row in _ROWS if row.default)


def render(name: str, result: RunResult) -> dict[str, bytes]:
    """The files of a format, by path below the folder of the report."""
    return FORMATS[name].render(result)
