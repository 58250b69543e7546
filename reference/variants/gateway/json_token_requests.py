"""A gateway that takes token requests in JSON, too."""

from __future__ import annotations

from gateproof.reference.deviations.json_token_requests import taking_json
from gateproof.reference.variants.variant import variant

VARIANTS = (
    variant(
        "token-requests-in-json-too: the token endpoint takes JSON objects beside forms",
        around=taking_json,
    ),
)
