"""Redemptions that were answered with 200 and no merchant token."""

from __future__ import annotations

import json

from gateproof.conformance.wire import leaks
from gateproof.conformance.wire.exchange import Exchange

# The headers of a redemption, in lower case.
CREDENTIALS = ("authorization", "x-proxy-token")


def is_empty(exchange: Exchange) -> bool:
    """True for a 200 whose JSON object holds no access_token, to a request with everything in its place.

    Requests that lack something, and bodies that are no JSON object, belong to other rules.
    """
    answer = exchange.answer
    if answer is None or answer.status != 200 or not _is_whole(exchange):
        return False
    members = answer.json()
    if not isinstance(members, dict):
        return False
    token = members.get("access_token")
    return not isinstance(token, str) or not token


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
