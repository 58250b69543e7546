"""What a record says of a run before its first check: who asks whom, what, and how to do it again."""

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
    """The text that the rules were drawn from."""

    identity: str
    version: str
    digest: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Harness:
    """What asked: dirty means that its files were not those of the commit."""

    version: str
    commit: str
    dirty: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """What was asked; an empty text stands for what is not known, or does not exist in this role.

    ``own_ca`` tells that a CA file vouches for it, and not the system; ``lines`` where its file says what.
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
    """How it was asked; `shard` is `K/N`, or empty.

    ``faults`` tells whether anything was to go wrong on purpose, ``examples`` how much was generated for a
    rule; older records do not say.
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Planned:
    """A rule that the run means to judge, by these checks; `place` is its own in the whole catalogue."""

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
    """A record that a merged one was made of."""

    shard: str
    run_id: str
    digest: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Proof:
    """What ships with the harness about its own checks: defects caught, variants left alone, by number."""

    digest: str
    figures: Mapping[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Header:
    """The first line of a record.

    ``dependencies`` is a digest of what is installed; ``clock_skew_s`` tells how far the target's clock is
    ahead, or that it is not known; ``command`` repeats the run; ``public`` lists names that every check may
    show although they look like credentials.
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


def header_to_dict(header: Header) -> dict[str, Any]:
    """The header as JSON values."""
    return {"schema": SCHEMA, **asdict(header)}


def header_from_dict(values: Mapping[str, Any]) -> Header:
    """The header from its JSON values; a key that is not known, or missing, is refused."""
    if values.get("schema") != SCHEMA:
        raise Malformed(f"schema: expected {SCHEMA}")
    header = decode(Header, {key: value for key, value in values.items() if key != "schema"}, "header")
    try:
        datetime.fromisoformat(header.started)
        for entry in header.options.baseline:
            date.fromisoformat(entry.expires)
    except ValueError:
        raise Malformed("header: a date or time cannot be read") from None
    return header
