"""Visits of one browser that may end at a host outside of the run, where the gateway explains why."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.gateway import BeyondReach, Browsing, Gateway, Visit
from gateproof.conformance.suite.parties import User


def visit_anywhere(gateway: Gateway, browser: Browsing, url: str, redirect_uri: str, user: User) -> Visit:
    """The user opens an address in this browser and approves."""
    try:
        visit = browser.visit(url, redirect_uri, user, approve=True)
    except BeyondReach as end:
        visit = end.visit
    return gateway.record_secrets(visit)
