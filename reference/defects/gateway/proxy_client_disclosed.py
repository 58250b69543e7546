"""Gateways that disclose a Proxy client in a metadata document or in the error for an unreadable body."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.deviations.leaks import with_member
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.outcomes import json_in

JSON = (("content-type", "application/json"),)
Change = Callable[[Asked, Answered, Gateway], Answered]


def in_resource_metadata(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """Protected resource metadata that lists the Proxy clients."""
    if "/.well-known/oauth-protected-resource" not in asked.path:
        return answered
    clients = sorted(gateway.store.proxy_clients)
    document = {"resource": gateway.base_url, "clients": clients}
    return Answered(status=200, headers=JSON, body=json.dumps(document).encode())


def last_basic(show: Callable[[Asked, Answered, str], Answered]) -> Change:
    """`show` discloses the last Basic credentials that were accepted."""
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
    """The exception's context contains data of an earlier request."""
    unread = asked.path.endswith("/api/register") and json_in(asked.body) is None
    return with_member(answered, "context", {"last": pair}) if unread else answered


def basic_where_the_form_is_unread(asked: Asked, answered: Answered, _: Gateway) -> Answered:
    """The response to a body that is not UTF-8 repeats the Authorization header."""
    try:
        asked.body.decode()
    except UnicodeDecodeError:
        return answered.with_header("x-request", asked.headers.get("authorization", ""))
    return answered


DEFECTS = (
    defect(
        "proxy-clients-in-resource-metadata (SECRET-04): The gateway publishes protected resource metadata "
        "that lists the IDs of all Proxy clients.",
        around=altering_answers(in_resource_metadata),
    ),
    defect(
        "proxy-client-in-server-metadata (SECRET-04): The gateway publishes authorization server metadata "
        "with an example that contains the last used Proxy client's ID and secret.",
        around=altering_answers(last_basic(in_server_metadata)),
    ),
    defect(
        "proxy-client-in-a-parse-error (SECRET-04): The error for a registration body that is not JSON "
        "contains the last used Proxy client's ID and secret.",
        around=altering_answers(last_basic(in_a_parse_error)),
    ),
    defect(
        "basic-in-an-encoding-error (SECRET-04): The error for a body that is not UTF-8 repeats the "
        "request's Authorization header.",
        around=altering_answers(basic_where_the_form_is_unread),
    ),
)
