"""Services that are told whose orders to show by something else than the token, or take two users for one."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from typing import Any
from urllib.parse import parse_qs

from gateproof.reference.defects.service.row import defect, mcp_defect
from gateproof.reference.defects.service.users import by_user, until_it_expires
from gateproof.reference.deviations.altered_answers import Answered, meddling
from gateproof.reference.deviations.altered_answers import Asked as AskedFor
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.wire import Asked, Outcome, as_json

_LONGEST = 64
Named = Callable[[Asked], str | None]


def kept_for(subject: Callable[[str], Hashable]) -> dict[str, Any]:
    """Merchant tokens are kept by user until they expire, and users are told apart by this."""

    def under(facts: CallFacts) -> Hashable:
        project, user = by_user(facts)
        return project, subject(user)

    return {"kept_under": under, "kept_until": until_it_expires}


def kept_for_whom(named: Named) -> dict[str, Any]:
    """Merchant tokens are kept by user until they expire, and the request may say who that is."""

    def under(facts: CallFacts) -> Hashable:
        project, user = by_user(facts)
        return project, named(facts.asked) or user

    return {"kept_under": under, "kept_until": until_it_expires}


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
    """`GET /orders/{id}` asks for a token, and finds the order in the cache of all orders."""
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

    return meddling(change)


DEFECTS = (
    defect(
        "merchant-token-kept-by-subject-in-any-case (BACK-10): Merchant tokens are kept by user until they "
        "expire, and subjects are compared without case.",
        **kept_for(str.casefold),
    ),
    defect(
        "merchant-token-kept-by-a-subjects-beginning (BACK-10): Merchant tokens are kept by the first 64 "
        "characters of a subject.",
        **kept_for(lambda subject: subject[:_LONGEST]),
    ),
    defect(
        "merchant-token-kept-by-a-subjects-letters (BACK-10): Merchant tokens are kept by subject, without "
        "what no file name can have.",
        **kept_for(lambda subject: "".join(each for each in subject if each.isalnum())),
    ),
    defect(
        "merchant-token-of-the-user-in-a-header (BACK-10): Merchant tokens are kept by user, and X-User-Id "
        "says who that is.",
        **kept_for_whom(in_a_header),
    ),
    defect(
        "merchant-token-of-the-user-in-the-query (BACK-10): Merchant tokens are kept by user, and a "
        "parameter may say who that is.",
        **kept_for_whom(in_the_query),
    ),
    mcp_defect(
        "merchant-token-of-the-user-among-the-arguments (BACK-10): Merchant tokens are kept by user, and an "
        "argument of the tool may say who that is.",
        **kept_for_whom(among_the_arguments),
    ),
    defect(
        "order-of-anybody-by-its-id (BACK-10): Whoever has a good token finds an order by its ID, whosever "
        "it is.",
        around=order_by_its_id(),
    ),
)
