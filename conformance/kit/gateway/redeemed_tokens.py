"""Decides whether a redemption with status 200 gave a merchant token."""

from __future__ import annotations

import json

from gateproof.conformance.wire import leaks
from gateproof.conformance.wire.exchange import Exchange

# The headers of a redemption, in lower case.
CREDENTIALS = ("authorization", "x-proxy-token")


def gave_a_token(exchange: Exchange) -> bool | None:
    """True if the JSON object of a 200 contains an access_token; None if this is not judged.

    Other answers, incomplete requests, and bodies that are no JSON object belong to other rules.
    """
    answer = exchange.answer
    if answer is None or answer.status != 200 or not _is_whole(exchange):
        return None
    members = answer.json()
    if not isinstance(members, dict):
        return None
    token = members.get("access_token")
    return isinstance(token, str) and bool(token)


def _is_whole(exchange: Exchange) -> bool:
    request = exchange.request
    if request.method != "POST" or not leaks.is_redemption(exchange):
        return False
    names = [name.lower() for name, value in request.headers if value.strip()]
    if any(names.count(name) != 1 for name in CREDENTIALS):
        return False
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError):
        return False
    return isinstance(body, dict) and isinstance(body.get("resource"), str)
