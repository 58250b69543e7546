"""Gateways that show a Proxy client in a document or in an error for a body that they cannot read."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
from gateproof.reference.deviations.leaks import with_member
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.outcomes import json_in

JSON = (("content-type", "application/json"),)
Change = Callable[[Asked, Answered, Gateway], Answered]


def in_resource_metadata(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """A document about the Resource that lists who may redeem there."""
    if "/.well-known/oauth-protected-resource" not in asked.path:
        return answered
    clients = sorted(gateway.store.proxy_clients)
    document = {"resource": gateway.base_url, "clients": clients}
    return Answered(status=200, headers=JSON, body=json.dumps(document).encode())


def last_basic(show: Callable[[Asked, Answered, str], Answered]) -> Change:
    """The Basic pair that came last is shown where it should not be."""
    seen: list[str] = []

    def change(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
        scheme, _, given = asked.headers.get("authorization", "").partition(" ")
        if scheme == "Basic" and answered.status == 200:
            seen[:] = [base64.b64decode(given).decode()]
        return show(asked, answered, seen[0]) if seen else answered

    return change


def in_server_metadata(asked: Asked, answered: Answered, pair: str) -> Answered:
    if "/.well-known/oauth-authorization-server" not in asked.path:
        return answered
    return Answered(status=200, headers=JSON, body=json.dumps({"example": f"curl -u {pair}"}).encode())


def in_a_parse_error(asked: Asked, answered: Answered, pair: str) -> Answered:
    """The context of an exception holds more than the request that caused it."""
    unread = asked.path.endswith("/api/register") and json_in(asked.body) is None
    return with_member(answered, "context", {"last": pair}) if unread else answered


def basic_where_the_form_is_unread(asked: Asked, answered: Answered, _: Gateway) -> Answered:
    """The error for a form that is no UTF-8 repeats the request's headers."""
    try:
        asked.body.decode()
    except UnicodeDecodeError:
        return answered.with_header("x-request", asked.headers.get("authorization", ""))
    return answered


DEFECTS = (
    defect(
        "proxy-clients-in-resource-metadata (SECRET-04): A document about protected resources lists the "
        "Proxy clients.",
        around=meddling(in_resource_metadata),
    ),
    defect(
        "proxy-client-in-server-metadata (SECRET-04): A document about the authorization server has an "
        "example with the last Proxy client's secret.",
        around=meddling(last_basic(in_server_metadata)),
    ),
    defect(
        "proxy-client-in-a-parse-error (SECRET-04): The error for a registration that cannot be read has the "
        "last Proxy client in its context.",
        around=meddling(last_basic(in_a_parse_error)),
    ),
    defect(
        "basic-in-an-encoding-error (SECRET-04): The error for a form that is no UTF-8 repeats the Basic "
        "header.",
        around=meddling(basic_where_the_form_is_unread),
    ),
)
