"""Registrations that should succeed."""

from __future__ import annotations

from gateproof.conformance.suite.claims import require
from gateproof.conformance.wire.exchange import Exchange


def accepted(answer: Exchange) -> Exchange:
    """The client of a successful registration; REG-01 tests the status."""
    document = require(require(answer).status(200, 201)).json_object()
    require.step_of("registration").text(document.get("client_id"), "client_id of the registration")
    return answer
