"""Compares what a record says about the rules with the catalogue of this gateproof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace

from gateproof.conformance.run.drive.options import RunOptions, Shard
from gateproof.conformance.run.drive.run_header import harness, planned_rule
from gateproof.conformance.suite import rules
from gateproof.conformance.suite.proven import proven
from gateproof.conformance.suite.vocabulary import ROLES
from gateproof.reports.header import Header, Planned

_CHECKS = "checks"
# Longer values are not repeated in a message.
_LONG = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class Claims:
    """What is wrong with a record's rules, what could not be compared, and which `share` of them was run."""

    wrong: tuple[str, ...]
    unknown: str
    share: str


def claims_of(header: Header) -> Claims:
    """Compares rules, levels, selection, checks and proof, if the record is from the same catalogue."""
    catalogue = rules.load()
    if header.role not in ROLES:
        return Claims(wrong=(f"there is no role {header.role!r}",), unknown="", share="")
    of_role = catalogue.for_role(header.role)
    if header.catalogue_digest != catalogue.digest():
        whose = " ".join(filter(None, ("gateproof", header.harness.version, header.harness.commit[:12])))
        unknown = f"the rules were not compared: they are those of {whose}, and this one has others"
        return Claims(wrong=(), unknown=unknown, share="")
    ours, run_by = harness(), header.harness
    # Without a commit, as in an installed package, two states of one version cannot be distinguished.
    known = bool(ours.commit) and not (ours.dirty or run_by.dirty)
    same = known and (ours.version, ours.commit) == (run_by.version, run_by.commit)
    return Claims(
        wrong=(*_wrong_rules(header, of_role, same=same), *_wrong_proof(header, same=same)),
        unknown="" if same else "the checks were not compared: another state of gateproof made this record",
        share=f"{len(header.planned)} of {len(of_role)} rules of the role {header.role}",
    )


def _wrong_rules(header: Header, of_role: Sequence[rules.Rule], *, same: bool) -> Iterator[str]:
    """Differences between the planned rules and those that the options select."""
    try:
        expected = _selected(header, of_role)
    except rules.UnknownRuleError as unknown:
        yield f"the selection names an unknown rule: {unknown}"
        return
    except (ValueError, ZeroDivisionError):
        yield f"there is no shard {header.options.shard!r}"
        return
    known = {rule.id: planned_rule(rule, RunOptions(role=header.role)) for rule in of_role}
    wanted, found = [rule.id for rule in expected], {planned.id: planned for planned in header.planned}
    yield from (f"{each} was selected, and is not in the plan" for each in wanted if each not in found)
    yield from (f"{each} is in the plan, and was not selected" for each in found if each not in wanted)
    for planned in header.planned:
        if planned.id in known:
            yield from _differences(planned, known[planned.id], same=same)
    for planned in header.step_owners:
        if planned.id not in known:
            yield f"{planned.id} is no rule of the role {header.role}"
        else:
            yield from _differences(planned, replace(known[planned.id], checks=()), same=True)


def _selected(header: Header, of_role: Sequence[rules.Rule]) -> Sequence[rules.Rule]:
    options = header.options
    selected = rules.select(of_role, options.only, options.skip)
    if not options.shard:
        return selected
    k, _, n = options.shard.partition("/")
    shard = Shard(k=int(k), n=int(n))
    return [rule for place, rule in enumerate(selected) if shard.holds(place)]


def _differences(found: Planned, expected: Planned, *, same: bool) -> Iterator[str]:
    for field in fields(Planned):
        one, other = getattr(found, field.name), getattr(expected, field.name)
        if one == other or (field.name == _CHECKS and not same):
            continue
        if field.name == _CHECKS:
            yield f"{found.id} has other checks than the catalogue"
        elif len(str(other)) > _LONG:
            yield f"{found.id} has another {field.name} than the catalogue"
        else:
            yield f"{found.id} has {field.name} {one!r}, in the catalogue it has {other!r}"


def _wrong_proof(header: Header, *, same: bool) -> Iterator[str]:
    shipped = proven(header.role)
    said = header.proof
    if said is None or not shipped.digest:
        return
    if said.digest == shipped.digest and dict(said.figures) != dict(shipped.figures):
        yield "the figures of the proof are not those of the proof with this digest"
    if same and said.digest != shipped.digest:
        yield "the proof is not the one that is part of this gateproof"
