"""Lets a run start its workers, the fake merchants and the embedded reference as forks of one process."""

from __future__ import annotations

from contextlib import AbstractContextManager

from gateproof.conformance.checks import index
from gateproof.conformance.run.drive.gc_tuning import collect_seldom
from gateproof.conformance.run.prepare.fork_server import WARM_UP
from gateproof.forks.here import forks

_WORKER = "gateproof.conformance.run.drive.worker"


def run_forks(role: str, *, workers: int, embedded: bool) -> AbstractContextManager[None]:
    """Loads what the run itself needs, which all forks then share, and starts the process that forks."""
    # These import pytest.
    from gateproof.conformance.run.drive import phases  # noqa: F401, PLC0415

    index(role)
    modules = []
    if workers > 1:
        from gateproof.conformance.run.drive import lanes  # noqa: F401, PLC0415

        modules.append(_WORKER)
    if role == "gateway":
        modules.append("gateproof.fakes.merchant")
    if embedded:
        modules.append(f"gateproof.reference.{role}")
    collect_seldom()
    return forks(modules, WARM_UP if embedded else "")
