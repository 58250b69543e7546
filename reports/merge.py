"""Merges the records of a run's shards into one record, which lists its parts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from gateproof.reports.evidence import EvidenceWriter, Scan
from gateproof.reports.failed_steps import is_a_step
from gateproof.reports.header import Header, Part, Planned, Target
from gateproof.reports.record import Record, results
from gateproof.reports.record_consistency import audit
from gateproof.reports.shards import CannotMerge, in_order
from gateproof.reports.verdicts import CheckResult


def merge(parts: Sequence[tuple[str, Record]], path: Path, *, scan: Scan) -> None:
    """Writes one record from those of all shards; each part has a name for error messages.

    The caller verifies the seals of the parts first. This checks only that the parts are consistent.
    """
    ordered = _in_order(parts)
    header = _header([record for _, record in ordered])
    with EvidenceWriter(path, scan=scan) as writer:
        writer.header(header)
        for result in _checks([record for _, record in ordered]):
            writer.check(result)
        footers = [(name, record.footer) for name, record in ordered if record.footer is not None]
        writer.footer(
            # Shards run in parallel, so the duration is that of the longest.
            duration_s=max(footer.duration_s for _, footer in footers),
            cut_short="; ".join(
                f"shard {record.header.options.shard}: {record.footer.cut_short}"
                for _, record in ordered
                if record.footer is not None and record.footer.cut_short
            ),
        )


def _in_order(parts: Sequence[tuple[str, Record]]) -> list[tuple[str, Record]]:
    """The parts in order of their shards; they must be consistent, of one run, and complete."""
    for name, record in parts:
        if wrong := audit(record):
            raise CannotMerge(f"{name}: {wrong[0].sentence}")
    first_name, first = parts[0]
    for name, record in parts[1:]:
        for what, one, other in _alike(first.header, record.header):
            if one != other:
                raise CannotMerge(f"{name}: has another {what} than {first_name}")
    ordered = in_order([(name, record.header.options.shard, record) for name, record in parts])
    _refuse_overlaps(parts)
    return ordered


def _alike(one: Header, other: Header) -> list[tuple[str, object, object]]:
    """The values that must be equal in all shards of one run."""
    first, second = one.options, other.options
    return [
        ("role", one.role, other.role),
        ("spec", one.spec, other.spec),
        ("catalogue", one.catalogue_digest, other.catalogue_digest),
        ("harness", one.harness, other.harness),
        ("target", _identity(one.target), _identity(other.target)),
        ("seed", first.seed, second.seed),
        ("profile", first.profile, second.profile),
        ("selection", (first.only, first.skip), (second.only, second.skip)),
        ("strictness", (first.strict, first.certify), (second.strict, second.certify)),
        ("baseline", first.baseline, second.baseline),
        ("setting of faults", first.faults, second.faults),
        ("budget of examples", first.examples, second.examples),
        ("deviation", first.deviate, second.deviate),
        ("setting of --trace", first.trace, second.trace),
    ]


def _identity(target: Target) -> tuple[str, str, str]:
    """The identity of a target, without its keys: each shard may launch it with new addresses and keys."""
    return target.name, target.version, target.configuration_digest or target.base_url


def _refuse_overlaps(parts: Sequence[tuple[str, Record]]) -> None:
    owner: dict[str, str] = {}
    for name, record in parts:
        for rule in record.header.planned:
            if rule.id in owner:
                raise CannotMerge(f"{name}: overlaps with {owner[rule.id]}: both planned {rule.id}")
            owner[rule.id] = name


def _header(records: Sequence[Record]) -> Header:
    """The header of the merged record, with the rules in the order of the catalogue."""
    headers = [record.header for record in records]
    digests = "".join(record.digest for record in records)
    skews = [header.clock_skew_s for header in headers if header.clock_skew_s is not None]
    first = headers[0]
    return replace(
        first,
        options=replace(first.options, shard="", workers=sum(header.options.workers for header in headers)),
        clock_skew_s=max(skews, key=abs) if skews else None,
        run_id=hashlib.sha256(digests.encode()).hexdigest()[:8],
        started=min((header.started for header in headers), key=datetime.fromisoformat),
        planned=tuple(
            sorted((rule for header in headers for rule in header.planned), key=lambda rule: rule.place)
        ),
        step_owners=_step_owners(headers),
        public=tuple(sorted({name for header in headers for name in header.public})),
        parts=tuple(
            Part(shard=record.header.options.shard, run_id=record.header.run_id, digest=record.digest)
            for record in records
        ),
    )


def _step_owners(headers: Sequence[Header]) -> tuple[Planned, ...]:
    """The rules that no part selected, and of which every part could see a failed step."""
    planned = {rule.id for header in headers for rule in header.planned}
    others = {rule.id: rule for header in headers for rule in header.step_owners if rule.id not in planned}
    return tuple(sorted(others.values(), key=lambda rule: rule.place))


def _checks(records: Sequence[Record]) -> list[CheckResult]:
    """The results of all parts; names that a part's header made public are public in each of its checks."""
    found = [
        replace(result, public=(*result.public, *record.header.public))
        for record in records
        for result in results(record)
    ]
    # A step that failed in several parts is one failure, as in one run.
    steps = {result.id: result for result in reversed(found) if is_a_step(result.id)}
    return [result for result in found if steps.get(result.id, result) is result]
