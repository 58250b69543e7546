"""What agents are told of what became of their operation."""

from __future__ import annotations

from http import HTTPStatus

from gateproof.reference.service.wire import Asked, Outcome, Reply, as_json


def answer_of(outcome: Outcome) -> Reply:
    """Orders, or an error that names no credential and quotes nobody.

    A user who has to authorize again gets the challenge: it is what sends an agent to do so.
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
    """Every 401 of the service's carries the challenge."""
    return reply.status == 401


def not_found(status: int) -> Reply:
    """What the server says by itself: a path, a method that there is not, or a fault of its own."""
    return as_json(status, {"error": HTTPStatus(status).name.lower()})


def logged(asked: Asked, reply: Reply, _outcome: Outcome) -> str:
    """One line a request: no query, no header, no body."""
    return f"{asked.method} {asked.path} {reply.status}"
