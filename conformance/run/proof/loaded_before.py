"""Imports what every trial of a proof needs, before workers are forked."""

from __future__ import annotations

import gc

from gateproof.conformance.checks import index
from gateproof.conformance.run.proof import runs

__all__ = ["runs"]

for role in ("gateway", "service", "agent"):
    index(role)
# A garbage collection in a worker would write to each object, and so copy all shared memory.
gc.freeze()
