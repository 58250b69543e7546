"""`python keys_elsewhere_gateway.py …` serves the reference, but says that its core keys are elsewhere."""

from __future__ import annotations

import sys
from dataclasses import replace

from gateproof.reference.gateway.command import main as serve_gateway
from gateproof.reference.gateway.policies import Policies
from gateproof.reference.gateway.policy.discovery import DiscoveryFacts, discovery_document
from gateproof.reference.outcomes import JsonObject


def elsewhere(facts: DiscoveryFacts) -> JsonObject:
    return discovery_document(facts) | {"jwks_uri": "https://keys.example/core"}


if __name__ == "__main__":
    sys.exit(serve_gateway(sys.argv[1:], replace(Policies(), discovery_document=elsewhere)))
