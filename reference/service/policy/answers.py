"""The answers to agents."""

from __future__ import annotations

from http import HTTPStatus

from gateproof.reference.service.wire import Asked, Outcome, Reply, as_json


def answer_of(outcome: Outcome) -> Reply:
    """Orders, or an error without details.

    If the user has to authorize again, the answer is the challenge, which makes an agent start an
    authorization.
    """
    match outcome.kind:
        case "served":
            return as_json(200, {"orders": outcome.orders})
        case "no token":
            return as_json(401, {"error": "unauthorized"})
        case "not accepted" | "reauthorize":
            return as_json(401, {"error": "invalid_token"})
        case "nothing there":
            return as_json(403, {"error": "no_merchant_access"})
        case "unavailable":
            return as_json(503, {"error": "temporarily_unavailable"})


def challenged(reply: Reply, _outcome: Outcome) -> bool:
    """Every 401 of the service has the challenge."""
    return reply.status == 401


def not_found(status: int) -> Reply:
    """The answer to an unknown path or method, to another site, or to an internal error."""
    return as_json(status, {"error": HTTPStatus(status).name.lower()})


def logged(asked: Asked, reply: Reply, _outcome: Outcome) -> str:
    """One line for each request, without query, headers and body."""
    return f"{asked.method} {asked.path} {reply.status}"
