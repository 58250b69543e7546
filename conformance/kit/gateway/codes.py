"""Requires the code of an authorization before a check can begin."""

from __future__ import annotations

import re

from gateproof.conformance.kit.gateway.gateway import Gateway, Visit
from gateproof.conformance.suite.claims import require
from gateproof.conformance.wire.route import origin

AFTER_AN_APPROVAL = "authorization after an approval"
# Statuses, and the error in a redirect, that mean "try again later"; they do not judge the request.
_LATER, LATER_ERROR = (429, 503), "temporarily_unavailable"
# Names of checkboxes that have nothing to do with an approval.
_NO_APPROVAL = re.compile("remember|stay|keep|newsletter", re.IGNORECASE)


def require_code(
    gateway: Gateway, visit: Visit, what: str = "authorization", *, step: str = "authorization"
) -> str:
    """The code of a valid authorization request.

    If the gateway ended the authorization without a code, the step has failed. A page that the harness does
    not understand, or of another host, does not end the authorization.
    """
    verb = require.step_of(step) if was_ended(gateway, visit) else require
    code = visit.parameter("code")
    verb.that(bool(code), what, expected="a code at the redirect URI", got=visit.outcome())
    return code or ""


def was_ended(gateway: Gateway, visit: Visit) -> bool:
    """True if the gateway ended an authorization that gave no code."""
    if any(not _NO_APPROVAL.search(box) for box in visit.unticked):
        return False
    if visit.sent_to is not None:
        return visit.answers and visit.parameter("error") != LATER_ERROR
    if visit.status is None or visit.status < 400 or visit.status in _LATER or visit.asks:
        return False
    return origin(visit.ended_at) in {origin(gateway.base_url), origin(gateway.core_url)}
