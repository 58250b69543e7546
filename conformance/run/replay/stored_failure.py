"""Reads a stored failure from a report, and makes the options that repeat it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from gateproof.conformance.checks import index
from gateproof.conformance.histories.machine import KIND as HISTORY
from gateproof.conformance.histories.steps import NotAHistory, from_json
from gateproof.conformance.run.context.base import OnFailure
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.replay.stored_race import KIND as RACE
from gateproof.conformance.run.replay.stored_race import NoRace, stored_race
from gateproof.conformance.suite.generated_input import KIND as EXAMPLE
from gateproof.conformance.targets.model import OwnParties
from gateproof.reports import record
from gateproof.reports.replay_files import SCHEMA, failures, selected, without_selection

_BY_NAME = "check"
_LARGEST = 16 * 1024 * 1024
_MEMBERS = {"role": str, "check": str, "repeat": dict, "seed": int, "command": str}


class NotAFailure(ValueError):
    """A file has no failure to repeat; the text says what was found and what was expected.

    `why` is the text without the place, and `is_gone` says that this version does not have the check.
    """

    def __init__(self, why: str, *, where: str = "", is_gone: bool = False) -> None:
        super().__init__(f"{where}: {why}" if where else why)
        self.why = why
        self.is_gone = is_gone


@dataclass(frozen=True, kw_only=True, slots=True)
class Stored:
    """One failed check, with its replay data."""

    role: str
    target: str
    check: str
    seed: int
    command: tuple[str, ...]
    repeat: Mapping[str, Any]

    def options(self, *, held: OnFailure | None = None) -> RunOptions:
        """The options for a run of this check alone, with the options of the original run."""
        given = dict(zip(self.command, self.command[1:], strict=False)).get("--examples", "")
        seed, examples = self.seed, int(given) if given.isdecimal() else RunOptions().examples
        if self.repeat["kind"] == RACE:
            race = stored_race(self.repeat)
            seed, examples = race.seed, race.examples
        return RunOptions(
            role=self.role,
            seed=seed,
            faults="--no-faults" not in self.command,
            examples=examples,
            chosen=frozenset({self.check}),
            replay=self.repeat if self.repeat["kind"] != _BY_NAME else None,
            held=held,
            command=shlex.join(self.command),
        )

    def operation(self) -> Literal["http", "mcp"]:
        """The kind of calls of the embedded service."""
        return "mcp" if ("--operation", "mcp") in pairwise(self.command) else "http"

    def own_parties(self) -> OwnParties:
        """What the options of the run say about the harness's own parties."""
        given = list(pairwise((*self.command, "")))
        return OwnParties(
            one_origin="--one-origin" in self.command,
            names=next((value for name, value in given if name == "--names"), ""),
            deviations=tuple(value for name, value in given if name == "--deviate"),
        )

    def of_target_file(self) -> bool:
        """True if the run had a target file."""
        return "--target" in self.command


def stored(path: Path, check: str = "") -> Stored:
    """The failure in a replay file, in a record, or in the folder of a run."""
    place = path / record.FILE if path.is_dir() else path
    if place.suffix == ".jsonl":
        return _chosen(place, check)
    try:
        if place.stat().st_size > _LARGEST:
            raise NotAFailure(f"{path}: is larger than any stored failure")
        raw = place.read_bytes()
    except OSError as problem:
        raise NotAFailure(f"{path}: cannot be read: {problem.strerror}") from None
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError):
        raise NotAFailure(f"{path}: is not JSON; expected a stored failure") from None
    return _read(document, str(path))


def all_stored(path: Path) -> dict[str, Stored | NotAFailure]:
    """All failures of a record; for one that cannot be repeated by itself, the reason."""
    place = path / record.FILE if path.is_dir() else path
    found: dict[str, Stored | NotAFailure] = {}
    for check, document in _failures_of(place).items():
        try:
            found[check] = _read(document, str(path))
        except NotAFailure as why:
            found[check] = why
    return found


def _failures_of(path: Path) -> dict[str, dict[str, Any]]:
    """The replay documents of a record, by check ID."""
    try:
        return dict(failures(record.result_of(record.read(path))))
    except record.Unreadable as problem:
        raise NotAFailure(str(problem)) from None


def _chosen(path: Path, check: str) -> Stored:
    """The failure of this check in a record; without an ID, the only one."""
    found = _failures_of(path)
    if not found:
        raise NotAFailure(f"{path}: nothing failed in this run")
    if not check and len(found) > 1:
        names = "\n  ".join(found)
        raise NotAFailure(f"{path}: {len(found)} checks failed; choose one with --check:\n  {names}")
    wanted = check or next(iter(found))
    if wanted not in found:
        raise NotAFailure(f"{path}: the check {wanted} did not fail in this run")
    return _read(found[wanted], str(path))


def _read(document: object, where: str) -> Stored:
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise NotAFailure(f"{where}: expected a stored failure with the schema {SCHEMA!r}")
    for name, kind in _MEMBERS.items():
        value = document.get(name)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise NotAFailure(f"{where}: {name}: found {value!r}, expected a value of type {kind.__name__}")
    try:
        command = tuple(shlex.split(document["command"]))
    except ValueError as problem:
        raise NotAFailure(f"{where}: command: {problem}") from None
    failure = Stored(
        role=document["role"],
        target=str(document.get("target") or ""),
        check=document["check"],
        seed=document["seed"],
        command=command,
        repeat=document["repeat"],
    )
    _known(failure, where)
    return failure


def _known(failure: Stored, where: str) -> None:
    """Refuses checks, kinds of failures and steps of histories that this version does not know."""
    checks = {name: each for found in index(failure.role).values() for each in found for name in each.ids()}
    if failure.check not in checks:
        said = f"this gateproof has no check {failure.check} for the role {failure.role}"
        raise NotAFailure(said, where=where, is_gone=True)
    if checks[failure.check].whole_run:
        beside = selected(failure.check.partition("/")[0], failure.repeat.get("rules"))
        command = f"{without_selection(shlex.join(failure.command))}{beside}"
        said = f"is about everything that a run received: repeat the run with {command}"
        raise NotAFailure(f"the check {failure.check} {said}", where=where)
    kind = failure.repeat.get("kind")
    if not isinstance(kind, str):
        raise NotAFailure(f"{where}: repeat.kind: found {kind!r}, expected a text")
    if kind == RACE and failure.repeat.get("check") != failure.check:
        raise NotAFailure(f"{where}: repeat.check: expected {failure.check}, as in check")
    if kind == EXAMPLE and "value" not in failure.repeat:
        raise NotAFailure(f"{where}: repeat.value: found nothing, expected an example of the check's input")
    try:
        if kind == HISTORY:
            from_json(failure.repeat.get("steps"))
        elif kind == RACE:
            stored_race(failure.repeat)
        elif kind not in {EXAMPLE, _BY_NAME}:
            raise NotAFailure(f"{where}: repeat.kind: found {kind!r}, which this version does not know")
    except (NotAHistory, NoRace) as problem:
        raise NotAFailure(f"{where}: {problem}") from None
