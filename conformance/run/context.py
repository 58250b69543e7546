"""What every process of a run has to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from conformance.target.model import GatewayTarget
from conformance.wire.client import Place
from conformance.wire.secret import Secret


@dataclass(frozen=True, kw_only=True)
class MerchantAccess:
    """How to script the fake merchant and how its public face is reached."""

    admin_url: str
    admin_token: Secret
    endpoints: Mapping[str, str]
    ca_file: str | None
    place: Place


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """One target, one fake world: the same for every worker of a run."""

    target: GatewayTarget
    merchant: MerchantAccess | None
    capabilities: frozenset[str]
    missing: Mapping[str, str] = field(default_factory=dict)
    seed: int
    run_id: str
    clock_offset_s: float = 0.0
