"""What a fault is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Layer(StrEnum):
    """What brings a fault about."""

    MERCHANT = "merchant"
    TLS = "tls"
    HTTP = "http"
    BYTES = "bytes"
    CLIENT = "client"


class Hop(StrEnum):
    """Between whom a fault stands: who asks, then who is asked."""

    AGENT_TO_GATEWAY = "agent to gateway"
    AGENT_TO_SERVICE = "agent to service"
    GATEWAY_TO_MERCHANT = "gateway to merchant"
    SERVICE_TO_GATEWAY = "service to gateway"
    SERVICE_TO_MERCHANT = "service to merchant API"


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """One thing that goes wrong: what it does, and what a target owes its callers all the same."""

    name: str
    layer: Layer
    hop: Hop
    does: str
    holds: str
