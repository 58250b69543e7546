"""Prepares a run against an agent: valid and invalid certificates, and the agent's program."""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gateproof.conformance.kit.agent.world import EXPIRED, GOOD, OTHER_HOST, UNKNOWN_CA, Certificates
from gateproof.conformance.kit.authority import Authority, Certificate
from gateproof.conformance.run.context.agent import AgentContext
from gateproof.conformance.run.context.embedded import Embedded, embedded_agent
from gateproof.conformance.run.prepare.gateway import CannotRun, Prepared, with_free_ports
from gateproof.conformance.suite.vocabulary import NEEDS
from gateproof.conformance.targets.model import AgentTarget, Launch
from gateproof.conformance.targets.party_names import hosts_below

_OFFERED = frozenset({"examples", "faults", "logs:output"})


def prepare_agent(
    given: AgentTarget | Embedded, folder: Path, seed: int, stack: ExitStack
) -> Prepared[AgentContext]:
    """Prepares without launching: every check launches the agent as often as it needs."""
    target = embedded_agent(given, folder) if isinstance(given, Embedded) else with_free_ports(given, stack)
    _require_startable(target.launch)
    authority, now = Authority(folder, names=hosts_below(given.own_parties.names)), datetime.now(UTC)
    issued = {
        GOOD: authority.issue("world"),
        EXPIRED: authority.issue_dated("expired", now - timedelta(days=9), now - timedelta(days=2)),
        OTHER_HOST: authority.issue_for("elsewhere", "elsewhere.example"),
        UNKNOWN_CA: authority.issue_by_unknown_ca("stranger"),
    }
    context = AgentContext(
        target=target,
        certificates=Certificates(
            ca_file=authority.ca_file, files={name: _files(each) for name, each in issued.items()}
        ),
        agent_certificate=_files(authority.issue("agent")),
        folder=folder,
        capabilities=_OFFERED,
        missing={
            need: f"needs {NEEDS[need]}: an agent does not have it" for need in NEEDS if need not in _OFFERED
        },
        seed=seed,
        run_id=secrets.token_hex(4),
    )
    return Prepared(context=context, name=target.name, version=target.version, date="", discovery_digest="")


def _files(certificate: Certificate) -> tuple[Path, Path]:
    return certificate.cert_file, certificate.key_file


def _require_startable(spec: Launch) -> None:
    """Raises CannotRun if the agent cannot be started, so that this does not count as a failed check."""
    if not spec.cwd.is_dir():
        raise CannotRun(f"cannot launch the agent: the folder {spec.cwd} is not there")
    program = spec.command[0]
    if "/" in program:
        path = spec.cwd / program
        if not path.is_file():
            raise CannotRun(f"cannot launch the agent: no program {program}")
        if not os.access(path, os.X_OK):
            raise CannotRun(f"cannot launch the agent: {program} is not executable")
    elif shutil.which(program, path=spec.env.get("PATH")) is None:
        raise CannotRun(f"cannot launch the agent: no program {program}")
