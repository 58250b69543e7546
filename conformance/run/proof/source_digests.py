"""Digests of the sources of a proof, to find what has changed since the shipped proof."""

from __future__ import annotations

import hashlib
import json
import re
import ssl
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from gateproof.conformance.checks import checks_by_module
from gateproof.conformance.run.proof import digests, sources
from gateproof.conformance.run.proof.implementations import Subject
from gateproof.conformance.suite import rules
from gateproof.package import ROOT

# Sources that no trial uses, and the checks, which have their own digests.
_ELSEWHERE = tuple(
    ROOT / "conformance" / place
    for place in ("checks/gateway", "checks/service", "checks/agent", "cli", "run/doctor", "run/replay")
)
# Sources that only trials of other roles use.
OF_OTHER_ROLES = {
    "gateway": (
        "conformance/kit/service",
        "conformance/kit/agent",
        "conformance/run/service",
        "conformance/run/agent",
        "fakes/gateway",
        "fakes/orders_service.py",
        "reference/service",
        "reference/agent",
    ),
    "service": (
        "conformance/kit/agent",
        "conformance/run/agent",
        "conformance/histories",
        "fakes/orders_service.py",
        "reference/agent",
    ),
    "agent": (
        "conformance/kit/service",
        "conformance/run/service",
        "conformance/histories",
        "reference/gateway",
        "reference/service",
    ),
}
# Enough to distinguish the versions of one file.
_DIGITS = 16
_DISTRIBUTION = re.compile(r"[\w.-]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeOf:
    """A digest of what every trial of a role depends on, and digests of files that only some depend on."""

    common: str
    checks: Mapping[str, str]
    subjects: Mapping[str, str]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@cache
def made_of(role: str) -> MadeOf:
    """The digests for a proof of this role now."""
    return MadeOf(
        common=_common(role),
        checks=_each(sources.of_checks(role)),
        subjects=_subjects(),
    )


def unchanged_checks(role: str, before: MadeOf) -> frozenset[str]:
    """The checks, as RULE/name, whose module and the check modules that it imports are unchanged."""
    files = sources.of_checks(role)
    now, places = made_of(role).checks, {path.stem: path for path in files}
    unchanged = set()
    for module, checks in checks_by_module(role).items():
        needed = sources.followed([places[module.rpartition(".")[2]]], files)
        if _as_before(needed, now, before.checks):
            unchanged |= {f"{check.rule}/{check.name}" for check in checks}
    return frozenset(unchanged)


def is_as_before(subject: Subject, before: MadeOf) -> bool:
    """True if no file of a subject has changed."""
    files = digests.files_of(frozenset(subject.name.split("+")))
    return _as_before(files, _subjects(), before.subjects)


def _as_before(files: Iterable[Path], now: Mapping[str, str], before: Mapping[str, str]) -> bool:
    return all(now[name] == before.get(name) for name in map(_name, files))


@cache
def _subjects() -> Mapping[str, str]:
    return _each(sources.of_subjects())


@cache
def _common(role: str) -> str:
    """A digest of all other sources, the decisive parts of the rules, and the library versions."""
    elsewhere = (*_ELSEWHERE, *(ROOT / place for place in OF_OTHER_ROLES[role]))
    of_the_rest = sources.digest(
        path
        for path in sources.of_the_packages()
        if not sources.is_of_a_subject(path) and not any(path.is_relative_to(each) for each in elsewhere)
    )
    decisive = [[rule.id, rule.level, rule.needs, rule.steps] for rule in rules.load().for_role(role)]
    return short(json.dumps([of_the_rest, decisive, _libraries()]).encode())


def _libraries() -> list[str]:
    """Python, OpenSSL, and all libraries that gateproof needs, directly or not."""
    python = ".".join(map(str, sys.version_info[:2]))
    found, waiting = {"gateproof"}, ["gateproof"]
    while waiting:
        further = set(_required(waiting.pop())) - found
        found |= further
        waiting += further
    return [python, ssl.OPENSSL_VERSION, *sorted(f"{name} {version(name)}" for name in found - {"gateproof"})]


def _required(name: str) -> Iterator[str]:
    for entry in requires(name) or ():
        needed = _DISTRIBUTION.match(entry)
        if needed is not None and "extra ==" not in entry:
            with suppress(PackageNotFoundError):
                # Libraries that only other systems need are not installed.
                version(needed[0])
                yield needed[0].lower()


def _each(paths: Iterable[Path]) -> dict[str, str]:
    return {_name(path): sources.digest([path])[:_DIGITS] for path in paths}


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def short(octets: bytes) -> str:
    """A digest that is long enough to distinguish the versions of one thing."""
    return hashlib.sha256(octets).hexdigest()[:_DIGITS]
