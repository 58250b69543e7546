"""Loads what every trial of a proof needs, so that workers that are forked afterwards have it."""

from __future__ import annotations

import gc

from gateproof.conformance.checks import index
from gateproof.conformance.run.proof import runs

__all__ = ["runs"]

for role in ("gateway", "service", "agent"):
    index(role)
# A collection in a worker would write to each object, and so copy all memory that it shares.
gc.freeze()
