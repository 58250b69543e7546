"""The proof that ships with the harness: which checks failed on which defects."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from gateproof.package import ROOT

SCHEMA = "gateproof/proven/1"
_LINE = 110
_FOLDER = ROOT / "conformance" / "catalogue" / "proven"


@dataclass(frozen=True, kw_only=True, slots=True)
class Caught:
    """A defect, its declared rules (the right one first), and the checks that caught it.

    `took_s` is the duration of its trial; long trials are started first.
    """

    name: str
    what: str
    rules: tuple[str, ...]
    checks: tuple[str, ...]
    took_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Proven:
    """The result of the last full proof of a role; empty if there is none.

    `defects` includes those of `later`, which were tried separately since then; `figures` are of the full
    proof only. `combined` has a digest of each combination of variants that was tried, `alone` the variants
    that got all checks by themselves, `made_of` has digests of the sources of the full proof, and `seed`
    chose its checks.
    """

    digest: str = ""
    figures: Mapping[str, int] = field(default_factory=dict)
    defects: Mapping[str, Caught] = field(default_factory=dict)
    variants: frozenset[str] = frozenset()
    later: frozenset[str] = frozenset()
    combined: frozenset[str] = frozenset()
    alone: frozenset[str] = frozenset()
    made_of: Mapping[str, Any] | None = None
    seed: int = 0

    def seen(self) -> frozenset[str]:
        """All checks that failed on some defect, without their cases."""
        return self._seen

    def closest(self, defect: str) -> tuple[str, ...]:
        """The most specific check that caught a defect, and those that are no defect's most specific one.

        If every defect is tested with these, every check fails at least once again.
        """
        known = self.defects[defect].checks if defect in self.defects else ()
        beside = (check_id for check_id in known[1:] if check_id.partition("[")[0] not in self._closest)
        return (*known[:1], *beside)

    @cached_property
    def _seen(self) -> frozenset[str]:
        ids = (check_id for defect in self.defects.values() for check_id in defect.checks)
        return frozenset(check_id.partition("[")[0] for check_id in ids)

    @cached_property
    def _closest(self) -> frozenset[str]:
        first = (check_id for caught in self.defects.values() for check_id in caught.checks[:1])
        return frozenset(check_id.partition("[")[0] for check_id in first)

    def caught_by(self, rule: str) -> list[Caught]:
        """The defects whose right rule is this one."""
        return [defect for defect in self.defects.values() if defect.rules[0] == rule]


@cache
def proven(role: str) -> Proven:
    """The proof that ships for a role."""
    path = place(role)
    if not path.is_file():
        return Proven()
    octets = path.read_bytes()
    said: dict[str, Any] = json.loads(octets)
    return Proven(
        digest=hashlib.sha256(octets).hexdigest(),
        figures=said["figures"],
        defects={
            name: Caught(
                name=name,
                what=each["what"],
                rules=tuple(each["rules"]),
                checks=tuple(each["checks"]),
                took_s=each.get("took_s", 0.0),
            )
            for name, each in (said["defects"] | said["later"]).items()
        },
        variants=frozenset(said["variants"]),
        later=frozenset(said["later"]),
        combined=frozenset(said.get("combined", ())),
        alone=frozenset(said["alone"]),
        made_of=said.get("made_of"),
        seed=said.get("seed", 0),
    )


def ship(role: str, shipped: Mapping[str, Any]) -> None:
    """Writes what ships for a role."""
    path = place(role)
    path.parent.mkdir(exist_ok=True)
    path.write_text(_on_lines(shipped, "", "") + "\n", encoding="utf-8")


def _on_lines(value: Any, indent: str, key: str) -> str:
    """JSON with one line for everything that fits, so that a changed defect is a few lines in a diff."""
    flat = json.dumps(value)
    if not isinstance(value, dict | list) or not value or len(indent) + len(key) + len(flat) < _LINE:
        return flat
    further, within = [], f"{indent} "
    for each in value:
        name = f"{json.dumps(each)}: " if isinstance(value, dict) else ""
        further.append(within + name + _on_lines(value[each] if name else each, within, name))
    opened, closed = ("{", "}") if isinstance(value, dict) else ("[", "]")
    return f"{opened}\n" + ",\n".join(further) + f"\n{indent}{closed}"


def place(role: str) -> Path:
    """The file of a role's proof."""
    return _FOLDER / f"{role}.json"
