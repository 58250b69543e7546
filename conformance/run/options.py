"""What the command line asks of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class RunOptions:
    """One `gateproof run`."""

    role: str = "gateway"
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    workers: int = 1
    seed: int = 0
    out: Path = Path("gateproof-report")
    strict: bool = False
    certify: bool = False
    fail_fast: bool = False
    shuffle: bool = False
    quiet: bool = False
    no_color: bool = False
