"""Registrations that are to succeed."""

from __future__ import annotations

from gateproof.conformance.suite.claims import require
from gateproof.conformance.wire.exchange import Exchange


def accepted(answer: Exchange) -> Exchange:
    """A registration that gave a client; with which status is REG-01's matter."""
    require.text(require(require(answer).status(200, 201)).json_object().get("client_id"), "client_id")
    return answer
