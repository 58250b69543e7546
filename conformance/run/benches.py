"""Every role has a workplace of its own."""

from __future__ import annotations

from conformance.run.bench import Bench
from conformance.run.contexts import Context
from conformance.run.service_bench import ServiceBench
from conformance.run.service_context import ServiceContext


def open_bench(context: Context) -> Bench | ServiceBench:
    """The workplace in which the checks of this run are carried out."""
    return ServiceBench(context) if isinstance(context, ServiceContext) else Bench(context)
