"""The names of the rule families, in the order of the catalogue."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

FAMILIES: Final = MappingProxyType(
    {
        "DISC": "Gateway: discovery",
        "KEYS": "Gateway: keys",
        "TLS": "Transport security",
        "REG": "Gateway: agent registration",
        "AUTHZ": "Gateway: authorization",
        "CODE": "Gateway: token endpoint, authorization code",
        "CLAIM": "Gateway: token claims",
        "PROXY": "Gateway: Proxy token",
        "REDEEM": "Gateway: redemption",
        "VAULT": "Gateway: merchant token lifecycle",
        "SECRET": "Secrets",
        "META": "Operator's service: metadata",
        "CHAL": "Operator's service: challenge and token validation",
        "SERVE": "Operator's service: serving",
        "BACK": "Operator's service: backend",
        "AGENT": "Agent",
        "ROBUST": "Robustness",
        "INTEROP": "Interoperability notes",
    }
)


def family_of(rule_id: str) -> str:
    """The part of a rule ID before its number."""
    return rule_id.rpartition("-")[0] or rule_id
