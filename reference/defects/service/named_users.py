"""Services that read the user from the request, not from the token, or confuse two users."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from typing import Any
from urllib.parse import parse_qs

from gateproof.reference.defects.service.row import defect, mcp_defect
from gateproof.reference.defects.service.users import by_user, until_it_expires
from gateproof.reference.deviations.altered_answers import Answered, altering_answers
from gateproof.reference.deviations.altered_answers import Asked as AskedFor
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.wire import Asked, Outcome, as_json

_LONGEST = 64
Named = Callable[[Asked], str | None]


def kept_for(subject: Callable[[str], Hashable]) -> dict[str, Any]:
    """Merchant tokens are cached until they expire, by Project and this function of the subject."""

    def under(facts: CallFacts) -> Hashable:
        project, user = by_user(facts)
        return project, subject(user)

    return {"cache_key": under, "cached_until": until_it_expires}


def kept_for_whom(named: Named) -> dict[str, Any]:
    """Merchant tokens are cached by user until they expire, and the request can name the user."""

    def under(facts: CallFacts) -> Hashable:
        project, user = by_user(facts)
        return project, named(facts.asked) or user

    return {"cache_key": under, "cached_until": until_it_expires}


def in_a_header(asked: Asked) -> str | None:
    return next(iter(asked.headers_named("x-user-id")), None)


def in_the_query(asked: Asked) -> str | None:
    return next(iter(parse_qs(asked.query).get("user_id", [])), None)


def among_the_arguments(asked: Asked) -> str | None:
    try:
        named = json.loads(asked.body)["params"]["arguments"]["user"]
    except (ValueError, KeyError, TypeError):
        return None
    return named if isinstance(named, str) else None


def order_by_its_id() -> Any:
    """`GET /orders/{id}` requires a token, and reads the order from a cache of all users' orders."""
    seen: dict[str, Any] = {}

    async def change(asked: AskedFor, answered: Answered, backend: Backend) -> Answered:
        if asked.path == "/orders" and answered.status == 200:
            seen.update({each["id"]: each for each in json.loads(answered.body)["orders"]})
        order = seen.get(asked.path.removeprefix("/orders/"))
        headers = tuple(asked.headers.items())
        call = await backend.call_of(Asked(method=asked.method, path=asked.path, headers=headers))
        if order is None or isinstance(call, Outcome):
            return answered
        reply = as_json(200, order)
        return Answered(status=200, headers=reply.headers, body=reply.body)

    return altering_answers(change)


DEFECTS = (
    defect(
        "merchant-token-kept-by-subject-in-any-case (BACK-10): The service caches merchant tokens by user "
        "and compares subjects case-insensitively.",
        **kept_for(str.casefold),
    ),
    defect(
        "merchant-token-kept-by-a-subjects-beginning (BACK-10): The service caches merchant tokens by the "
        "first 64 characters of the subject.",
        **kept_for(lambda subject: subject[:_LONGEST]),
    ),
    defect(
        "merchant-token-kept-by-a-subjects-letters (BACK-10): The service caches merchant tokens by subject, "
        "without all characters that are not letters or digits.",
        **kept_for(lambda subject: "".join(each for each in subject if each.isalnum())),
    ),
    defect(
        "merchant-token-of-the-user-in-a-header (BACK-10): The service caches merchant tokens by user and "
        "reads the user from X-User-Id.",
        **kept_for_whom(in_a_header),
    ),
    defect(
        "merchant-token-of-the-user-in-the-query (BACK-10): The service caches merchant tokens by user and "
        "reads the user from the query parameter user_id.",
        **kept_for_whom(in_the_query),
    ),
    mcp_defect(
        "merchant-token-of-the-user-among-the-arguments (BACK-10): The service caches merchant tokens by "
        "user and reads the user from the tool argument user.",
        **kept_for_whom(among_the_arguments),
    ),
    defect(
        "order-of-anybody-by-its-id (BACK-10): A user with a valid token gets any order by its ID, even of "
        "another user.",
        around=order_by_its_id(),
    ),
)
