"""A registration endpoint that answers to more than registrations."""

from __future__ import annotations

from gateproof.reference.deviations.listed_agents import all_of_them, listing
from gateproof.reference.variants.variant import variant

VARIANTS = (
    variant(
        "agents-listed-without-secrets: GET of the registration endpoint lists the registered agents without "
        "their secrets",
        **listing(all_of_them, without="client_secret"),
    ),
)
