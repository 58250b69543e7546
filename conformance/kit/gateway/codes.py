"""The code that an authorization must give before a check can begin."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.gateway import Visit
from gateproof.conformance.suite.claims import require

# Statuses with which a server asks for patience; they say nothing about the request.
_LATER = (429, 503)


def require_code(visit: Visit, what: str = "authorization") -> str:
    """The code of a valid authorization request.

    If the gateway ended the authorization without a code, the step has failed. A page that the harness does
    not understand is no end.
    """
    verb = require.step_of("authorization") if _was_ended(visit) else require
    code = visit.parameter("code")
    verb.that(bool(code), what, expected="a code at the redirect URI", got=visit.outcome())
    return code or ""


def _was_ended(visit: Visit) -> bool:
    if visit.unticked:
        return False
    if visit.sent_to is not None:
        return visit.answers
    return visit.status is not None and visit.status >= 400 and visit.status not in _LATER
