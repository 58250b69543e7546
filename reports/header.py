"""The header of a record: target, harness, specification, options and plan of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from typing import Any

from gateproof.reports.baseline import Entry
from gateproof.reports.strict import Malformed, decode

SCHEMA = "gateproof/evidence/1"


@dataclass(frozen=True, kw_only=True, slots=True)
class Spec:
    """The specification that the rules come from."""

    identity: str
    version: str
    digest: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Harness:
    """The version of gateproof; dirty means that its files differ from the commit."""

    version: str
    commit: str
    dirty: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """The target; an empty string means unknown, or not part of this role.

    ``own_ca``: the target file names a CA file. ``lines``: line numbers of keys in the target file.
    """

    name: str
    version: str
    base_url: str
    core_url: str
    tls_key_digest: str
    discovery_digest: str
    configuration_digest: str
    own_ca: bool = False
    lines: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """The options of the run; `shard` is `K/N`, or empty.

    ``faults``: whether faults were injected. ``examples``: the number of generated examples for a rule.
    ``deviate``: how the gateway around an agent left the specification. ``trace``: whether the requests named
    their check. Older records have none of them.
    """

    profile: str
    seed: int
    strict: bool
    certify: bool
    workers: int
    only: tuple[str, ...]
    skip: tuple[str, ...]
    shard: str
    baseline: tuple[Entry, ...]
    faults: bool | None = None
    examples: int | None = None
    deviate: tuple[str, ...] = ()
    trace: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Planned:
    """A planned rule and its checks; `place` is its position in the whole catalogue."""

    id: str
    place: int
    level: str
    title: str
    section: str
    holds: str
    why: str
    standard: str
    checks: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One of the records that a merged record consists of."""

    shard: str
    run_id: str
    digest: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Proof:
    """The shipped proof of the checks: its digest and figures, such as the number of defects found."""

    digest: str
    figures: Mapping[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Header:
    """The first line of a record.

    ``dependencies`` is a digest of the installed packages. ``clock_skew_s`` is how far the target's clock is
    ahead, None if unknown. ``command`` repeats the run. ``public`` are names that every check may show
    although they look like credentials. ``step_owners`` are rules that were not selected: one is part of the
    result if a step of it failed. Older records have none.
    """

    role: str
    spec: Spec
    catalogue_digest: str
    harness: Harness
    dependencies: str
    python: str
    os: str
    target: Target
    options: Options
    clock_skew_s: float | None
    run_id: str
    started: str
    command: str
    planned: tuple[Planned, ...]
    public: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    proof: Proof | None = None
    step_owners: tuple[Planned, ...] = ()

    def rules(self) -> tuple[Planned, ...]:
        """All rules of which a record can have results."""
        return (*self.planned, *self.step_owners)

    def planned_checks(self) -> set[str]:
        return {check_id for rule in self.planned for check_id in rule.checks}


def header_to_dict(header: Header) -> dict[str, Any]:
    """The header as JSON values."""
    return {"schema": SCHEMA, **asdict(header)}


def header_from_dict(values: Mapping[str, Any]) -> Header:
    """The header from its JSON values; unknown and missing keys are refused."""
    if values.get("schema") != SCHEMA:
        raise Malformed(f"schema: expected {SCHEMA}")
    header = decode(Header, {key: value for key, value in values.items() if key != "schema"}, "header")
    try:
        datetime.fromisoformat(header.started)
        for entry in header.options.baseline:
            date.fromisoformat(entry.expires)
    except ValueError:
        raise Malformed("header: a date or time is invalid") from None
    return header
