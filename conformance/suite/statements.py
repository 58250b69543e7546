"""The statements of the specification, and the rules that test each."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache

from gateproof.package import ROOT

_FILE = ROOT / "conformance" / "catalogue" / "statements" / "specification.toml"


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """One statement, in our own words; if no rule tests it, `why` says why."""

    section: str
    number: int
    says: str
    rules: tuple[str, ...]
    why: str
    # Whether a sentence of the text states it; else it follows from several, or from a standard.
    stated: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Statements:
    """All statements of one version of the specification.

    `digest` is the SHA-256 of the text of the specification. It does not change when statements are edited.
    """

    digest: str
    every: tuple[Statement, ...]

    def of_rule(self, rule_id: str) -> tuple[Statement, ...]:
        """The statements that lead to a rule."""
        return tuple(each for each in self.every if rule_id in each.rules)


@cache
def load() -> Statements:
    """The statements that ship with the package, numbered within each section."""
    document = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return Statements(
        digest=document["digest"],
        every=tuple(
            Statement(
                section=section["title"],
                number=number,
                says=entry["says"],
                rules=tuple(entry.get("rules", ())),
                why=entry.get("why", ""),
                stated=not section.get("beyond", False),
            )
            for section in document["section"]
            for number, entry in enumerate(section["statements"], 1)
        ),
    )
