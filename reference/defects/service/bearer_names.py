"""Services that accept tokens in headers, cookies or parameters of a gateway, a proxy or a framework."""

from __future__ import annotations

from urllib.parse import parse_qs

from gateproof.reference.defects.service.bearer import (
    Presented,
    in_a_cookie_called,
    in_a_header_called,
    or_from,
)
from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.wire import Asked


def bare_in_a_header_called(name: str) -> Presented:
    """The value of this header, if it has no scheme."""
    return lambda asked: next((value for value in asked.headers_named(name) if " " not in value), None)


def in_the_query_as(name: str) -> Presented:
    """The query parameter with this name, with or without Bearer before the token."""

    def presented(asked: Asked) -> str | None:
        return next((value.removeprefix("Bearer ") for value in parse_qs(asked.query).get(name, [])), None)

    return presented


DEFECTS = (
    defect(
        "token-of-a-gateway-in-front (CHAL-03): The service accepts a token in X-Gateway-Token from any "
        "sender.",
        **or_from(in_a_header_called("x-gateway-token")),
    ),
    defect(
        "token-in-a-header-of-the-users (CHAL-03): The service accepts a token in X-User-Token.",
        **or_from(in_a_header_called("x-user-token")),
    ),
    defect(
        "bare-token-in-x-authorization (CHAL-03): The service accepts a token without a scheme in "
        "X-Authorization.",
        **or_from(bare_in_a_header_called("x-authorization")),
    ),
    defect(
        "authorization-in-the-query (CHAL-03): The service accepts a token in the query parameter "
        "authorization.",
        **or_from(in_the_query_as("authorization")),
    ),
    defect(
        "token-in-a-cookie-of-the-gateways (CHAL-03): The service accepts a token in the cookie "
        "gateway_token.",
        **or_from(in_a_cookie_called("gateway_token")),
    ),
)
