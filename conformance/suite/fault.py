"""The definition of a fault."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Layer(StrEnum):
    """The layer at which a fault is caused."""

    MERCHANT = "merchant"
    TLS = "tls"
    HTTP = "http"
    BYTES = "bytes"
    CLIENT = "client"


class Hop(StrEnum):
    """The connection that a fault affects: sender, then receiver of the request."""

    AGENT_TO_GATEWAY = "agent to gateway"
    AGENT_TO_SERVICE = "agent to service"
    GATEWAY_TO_MERCHANT = "gateway to merchant"
    SERVICE_TO_GATEWAY = "service to gateway"
    SERVICE_TO_MERCHANT = "service to merchant API"


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """One fault: what it does, and what the target still has to do for its callers."""

    name: str
    layer: Layer
    hop: Hop
    does: str
    holds: str
