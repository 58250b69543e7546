"""The keys of the core, as they were found, and what stands in for them while they cannot be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """What discovery said, and the keys of the core."""

    issuer: str
    token_endpoint: str
    keys: tuple[dict[str, Any], ...]
    fetched_at: float


def while_out_of_reach(_before: Known | None) -> Known | None:
    """Who may be right cannot be told without the keys: nobody is served or refused for it."""
    return None
