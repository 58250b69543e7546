"""Services that look for tokens under names that a gateway, a proxy or a framework may have given them."""

from __future__ import annotations

from urllib.parse import parse_qs

from gateproof.reference.defects.service.bearer import (
    Presented,
    in_a_cookie_called,
    in_a_header_called,
    or_else,
)
from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.wire import Asked


def bare_in_a_header_called(name: str) -> Presented:
    """A token without a scheme: what has one is for somebody else."""
    return lambda asked: next((value for value in asked.headers_named(name) if " " not in value), None)


def in_the_query_as(name: str) -> Presented:
    """A parameter of this name, with Bearer in it or without."""

    def presented(asked: Asked) -> str | None:
        return next((value.removeprefix("Bearer ") for value in parse_qs(asked.query).get(name, [])), None)

    return presented


DEFECTS = (
    defect(
        "token-of-a-gateway-in-front (CHAL-03): A token in X-Gateway-Token is taken, whoever sends it.",
        **or_else(in_a_header_called("x-gateway-token")),
    ),
    defect(
        "token-in-a-header-of-the-users (CHAL-03): A token in X-User-Token is taken.",
        **or_else(in_a_header_called("x-user-token")),
    ),
    defect(
        "bare-token-in-x-authorization (CHAL-03): A token without a scheme in X-Authorization is taken.",
        **or_else(bare_in_a_header_called("x-authorization")),
    ),
    defect(
        "authorization-in-the-query (CHAL-03): A token in the query is taken, under authorization.",
        **or_else(in_the_query_as("authorization")),
    ),
    defect(
        "token-in-a-cookie-of-the-gateways (CHAL-03): A token in a cookie called gateway_token is taken.",
        **or_else(in_a_cookie_called("gateway_token")),
    ),
)
