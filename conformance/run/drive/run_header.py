"""Builds the header of a run's record: target, harness, options and plan."""

from __future__ import annotations

import hashlib
import json
import platform
import secrets
import shutil
import socket
import ssl
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from gateproof import __version__
from gateproof.conformance.checks import index
from gateproof.conformance.run.context.base import Context
from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.prepare.gateway import Prepared, target_place
from gateproof.conformance.suite import rules, specification
from gateproof.conformance.suite.proven import proven
from gateproof.conformance.targets.lines import lines_of
from gateproof.conformance.targets.model import GatewayTarget, ServiceTarget, Target
from gateproof.conformance.wire.route import trust
from gateproof.conformance.wire.secret import Secret
from gateproof.package import CHECKOUT
from gateproof.reports import header
from gateproof.reports.header import Header, Planned

_HANDSHAKE_S = 5.0
# The Date header has whole seconds, so smaller differences cannot be measured.
_DATE_STEP_S = 1.5


def header_of(
    target: Target | Embedded,
    prepared: Prepared[Context] | None,
    selected: Sequence[rules.Rule],
    options: RunOptions,
    started: datetime,
) -> Header:
    """The header of a run; values that are unknown because the target was not reached are empty."""
    return Header(
        role=options.role,
        spec=header.Spec(
            identity=specification.IDENTITY,
            version=specification.VERSION,
            digest=specification.DIGEST,
        ),
        catalogue_digest=rules.load().digest(),
        harness=harness(),
        dependencies=dependencies(),
        python=platform.python_version(),
        os=f"{platform.system()} {platform.machine()}",
        target=_target(target, prepared),
        options=header.Options(
            profile=options.profile,
            seed=options.seed,
            strict=options.strict,
            certify=options.certify,
            workers=options.workers,
            only=options.only,
            skip=options.skip,
            shard=str(options.shard) if options.shard else "",
            baseline=options.baseline,
            faults=options.faults,
            examples=options.examples,
            deviate=options.deviate,
            trace=options.trace,
        ),
        clock_skew_s=_skew(prepared),
        run_id=prepared.context.run_id if prepared is not None else secrets.token_hex(4),
        started=started.isoformat(timespec="seconds"),
        command=options.command,
        planned=tuple(planned_rule(rule, options) for rule in selected),
        step_owners=_step_owners(selected, options.role),
        proof=_proof(options.role),
    )


def _proof(role: str) -> header.Proof | None:
    shipped = proven(role)
    return header.Proof(digest=shipped.digest, figures=shipped.figures) if shipped.digest else None


def planned_rule(rule: rules.Rule, options: RunOptions) -> Planned:
    """A rule as the header has it, with the checks that a run with these options carries out."""
    ids = (check_id for check in index(options.role).get(rule.id, ()) for check_id in check.ids())
    chosen = (check_id for check_id in ids if options.chosen is None or check_id in options.chosen)
    return _in_the_plan(rule, tuple(chosen))


def _step_owners(selected: Sequence[rules.Rule], role: str) -> tuple[Planned, ...]:
    """The rules that are not selected, but fail if one of their steps fails."""
    others = (rule for rule in rules.load().for_role(role) if rule.steps and rule not in selected)
    return tuple(_in_the_plan(rule, ()) for rule in others)


def _in_the_plan(rule: rules.Rule, checks: tuple[str, ...]) -> Planned:
    place = list(rules.load()).index(rule.id)
    return Planned(
        id=rule.id,
        place=place,
        level=rule.level,
        title=rule.title,
        section=rule.section,
        holds=rule.holds,
        why=rule.why,
        standard=rule.standard or "",
        checks=checks,
    )


@cache
def harness() -> header.Harness:
    """The harness's version, and the commit where it runs from a checkout of its own."""
    commit, changes = "", ""
    if (CHECKOUT / ".git").exists() and shutil.which("git"):
        commit, changes = _git(CHECKOUT, "rev-parse", "HEAD"), _git(CHECKOUT, "status", "--porcelain", "-uno")
    return header.Harness(version=__version__, commit=commit, dirty=bool(changes))


def _git(checkout: Path, *arguments: str) -> str:
    command = ["git", "-C", str(checkout), *arguments]  # the caller's own git, on the harness's own files
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


@cache
def dependencies() -> str:
    names = sorted({f"{found.name.lower()}=={found.version}" for found in distributions()})
    return hashlib.sha256("\n".join(names).encode()).hexdigest()


def _target(target: Target | Embedded, prepared: Prepared[Context] | None) -> header.Target:
    asked = prepared.context.target if prepared is not None else target
    gateway = asked if isinstance(asked, GatewayTarget) else None
    return header.Target(
        name=prepared.name if prepared is not None else target.name,
        version=prepared.version if prepared is not None else target.version,
        base_url=gateway.base_url if gateway is not None else "",
        core_url=gateway.core_url if gateway is not None else "",
        tls_key_digest=_tls_key(gateway) if gateway is not None and prepared is not None else "",
        discovery_digest=prepared.discovery_digest if prepared is not None else "",
        configuration_digest=_configuration(target),
        own_ca=isinstance(asked, GatewayTarget | ServiceTarget) and asked.reach.ca_file is not None,
        lines=_lines(target),
    )


def _lines(target: Target | Embedded) -> dict[str, int]:
    """The line numbers of keys in the target file; empty if it cannot be read any more."""
    if isinstance(target, Embedded) or target.file is None:
        return {}
    try:
        return lines_of(target.file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError):
        return {}


def _configuration(target: Target | Embedded) -> str:
    """A digest of the content of the target file, without secrets and paths."""
    text = json.dumps(_open_values(target), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _open_values(value: Any) -> Any:
    if isinstance(value, Secret):
        return value.kind
    if isinstance(value, Path):
        return value.name
    if is_dataclass(value) and not isinstance(value, type):
        # Values of headers and environment variables may be credentials, so only their names count.
        return {
            field.name: sorted(getattr(value, field.name))
            if field.name in {"headers", "env"}
            else _open_values(getattr(value, field.name))
            for field in fields(value)
            # What the options of a run say about the harness's own parties is not in the target file.
            if field.name != "own_parties"
        }
    if isinstance(value, Mapping):
        return {str(name): _open_values(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [_open_values(each) for each in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _tls_key(target: GatewayTarget) -> str:
    """A digest of the target's public key, so that a report belongs to one target."""
    parts = urlsplit(target.base_url)
    if parts.scheme != "https" or parts.hostname is None:
        return ""
    context = trust(target_place(target))
    try:
        with (
            socket.create_connection((parts.hostname, parts.port or 443), timeout=_HANDSHAKE_S) as plain,
            context.wrap_socket(plain, server_hostname=parts.hostname) as secure,
        ):
            shown = secure.getpeercert(binary_form=True)
    except (OSError, ssl.SSLError):
        return ""
    if not shown:
        return ""
    key = x509.load_der_x509_certificate(shown).public_key()
    return hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()


def _skew(prepared: Prepared[Context] | None) -> float | None:
    """How far the target's clock is ahead, by the Date of its first answer; None if unknown."""
    if prepared is None or not prepared.date:
        return None
    try:
        said = parsedate_to_datetime(prepared.date)
    except (ValueError, OverflowError):
        return None
    if said.tzinfo is None:
        return None
    skew = (said - datetime.now(UTC)).total_seconds()
    return 0.0 if abs(skew) < _DATE_STEP_S else float(round(skew))
