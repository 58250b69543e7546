"""Gateways whose registration endpoint shows agents with their secrets."""

from __future__ import annotations

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Asked
from gateproof.reference.deviations.listed_agents import REGISTRATION, all_of_them, listing
from gateproof.reference.outcomes import JsonObject


def the_one_named(asked: Asked, records: list[JsonObject]) -> JsonObject | None:
    """The agent at its own address, for whoever has any bearer token."""
    if not asked.headers.get("authorization", "").startswith("Bearer "):
        return None
    named = asked.path.rpartition(f"{REGISTRATION}/")[2]
    return next((record for record in records if record["client_id"] == named), None)


DEFECTS = (
    defect(
        "agents-listed-with-secrets (REG-10): GET of the registration endpoint lists the registered agents "
        "with their secrets.",
        **listing(all_of_them),
    ),
    defect(
        "agent-shown-to-any-bearer (REG-10): GET of the registration endpoint with a client ID in its path "
        "shows the agent with its secret to whoever sends a bearer token.",
        **listing(the_one_named),
    ),
)
