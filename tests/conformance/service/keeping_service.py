"""`python keeping_service.py …` serves the reference as a service that keeps what it is given, to its end.

A refused Proxy token is used until its time is over, and so is a user's merchant token.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable
from dataclasses import replace

from gateproof.reference.service.command import main as serve_service
from gateproof.reference.service.policies import Policies
from gateproof.reference.service.policy.redemption import CallFacts


def by_user(facts: CallFacts) -> Hashable:
    return facts.claims["sub"]


if __name__ == "__main__":
    kept = {"cache_key": by_user, "cached_until": lambda _document, now: now + 600}
    sys.exit(
        serve_service(sys.argv[1:], replace(Policies(), warrants_new_proxy_token=lambda _: False, **kept))
    )
