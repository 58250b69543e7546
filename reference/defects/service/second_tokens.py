"""Services that validate one token of a request and redeem another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.service.bearer import in_a_cookie, in_a_header_called, in_the_query
from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.policy import redemption, validation
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.wire import Asked, Outgoing


def at(place: int) -> Callable[[Asked], str | None]:
    """The token of the first or last of several Authorization headers."""

    def read(asked: Asked) -> str | None:
        values = asked.headers_named("authorization")
        found = validation.BEARER.fullmatch(values[place]) if values else None
        return found[1] if found else None

    return read


def redeeming(read: Callable[[Asked], str | None]) -> Callable[[CallFacts], Outgoing]:
    """Redeems the token that is found here, if there is one, and not the validated one."""

    def asked(facts: CallFacts) -> Outgoing:
        token = read(facts.asked) or facts.token
        return redemption.redemption_request(replace(facts, token=token))

    return asked


def validated_first(redeemed: int) -> dict[str, Any]:
    return {"presented_token": at(-1 - redeemed), "redemption_request": redeeming(at(redeemed))}


DEFECTS = (
    defect(
        "last-authorization-redeemed (CHAL-06): Of two Authorization headers the service validates the first "
        "and redeems the last.",
        **validated_first(redeemed=-1),
    ),
    defect(
        "first-authorization-redeemed (CHAL-06): Of two Authorization headers the service validates the last "
        "and redeems the first.",
        **validated_first(redeemed=0),
    ),
    defect(
        "forwarded-token-redeemed (CHAL-06): The service redeems the token in X-Forwarded-Access-Token, if "
        "there is one, and validates the one in Authorization.",
        redemption_request=redeeming(in_a_header_called("x-forwarded-access-token")),
    ),
    defect(
        "query-token-redeemed (CHAL-06): The service redeems the token in the query, if there is one, and "
        "validates the one in Authorization.",
        redemption_request=redeeming(in_the_query),
    ),
    defect(
        "cookie-token-redeemed (CHAL-06): The service redeems the token in a cookie, if there is one, and "
        "validates the one in Authorization.",
        redemption_request=redeeming(in_a_cookie),
    ),
)
