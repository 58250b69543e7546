"""Imports and reads what every trial of a proof needs, before workers are forked.

That is also what the fakes load when they begin to listen.
"""

from __future__ import annotations

import gc

from gateproof.conformance.checks import index
from gateproof.conformance.run.drive import phases, run_header
from gateproof.conformance.run.proof import runs
from gateproof.conformance.suite import rules
from gateproof.conformance.suite.proven import proven
from gateproof.conformance.suite.vocabulary import ROLES
from gateproof.fakes import abortable_protocol

__all__ = ["abortable_protocol", "phases", "runs"]

rules.load()
run_header.harness()
run_header.dependencies()
for role in ROLES:
    index(role)
    proven(role)
# A garbage collection in a worker would write to each object, and so copy all shared memory.
gc.freeze()
