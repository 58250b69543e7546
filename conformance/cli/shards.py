"""The option --shard: which part of a run or a proof this process carries out."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateproof.conformance.run.drive.options import Shard

MOST_SHARDS = 1000
# How CI systems and Kubernetes number parallel jobs: the variable of the index, the first index, the total.
# Kubernetes does not tell a job how many there are: the manifest sets JOB_COMPLETIONS.
_NUMBERED_BY = (
    ("CI_NODE_INDEX", 1, "CI_NODE_TOTAL"),
    ("CIRCLE_NODE_INDEX", 0, "CIRCLE_NODE_TOTAL"),
    ("BUILDKITE_PARALLEL_JOB", 0, "BUILDKITE_PARALLEL_JOB_COUNT"),
    ("BITBUCKET_PARALLEL_STEP", 0, "BITBUCKET_PARALLEL_STEP_COUNT"),
    ("SEMAPHORE_JOB_INDEX", 1, "SEMAPHORE_JOB_COUNT"),
    ("SYSTEM_JOBPOSITIONINPHASE", 1, "SYSTEM_TOTALJOBSINPHASE"),
    ("JOB_COMPLETION_INDEX", 0, "JOB_COMPLETIONS"),
)


def shard(text: str) -> Shard:
    """The part that `K/N` names; with `auto`, the one of this parallel job."""
    return _of_this_job(os.environ) if text == "auto" else _parsed(text, f"found {text!r}")


def _of_this_job(environment: Mapping[str, str]) -> Shard:
    for index, first, total in _NUMBERED_BY:
        if index in environment and total in environment:
            found = f"found {index}={environment[index]!r} and {total}={environment[total]!r}"
            number = environment[index]
            if not number.isdecimal():
                raise argparse.ArgumentTypeError(f"{found}, expected two numbers")
            return _parsed(f"{int(number) - first + 1}/{environment[total]}", found)
    known = ", ".join(f"{index} with {total}" for index, _, total in _NUMBERED_BY)
    raise argparse.ArgumentTypeError(
        f"found 'auto' in a job that is not one of several parallel ones, expected K/N, or {known}"
    )


def _parsed(text: str, found: str) -> Shard:
    from gateproof.conformance.run.drive.options import Shard  # noqa: PLC0415

    k, slash, n = text.partition("/")
    if not (slash and k.isdecimal() and n.isdecimal() and 1 <= int(k) <= int(n) <= MOST_SHARDS):
        raise argparse.ArgumentTypeError(f"{found}, expected K/N with K from 1 to N")
    return Shard(k=int(k), n=int(n))
