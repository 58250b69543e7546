"""Other legal answers to an agent."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy.answers import answer_of
from gateproof.reference.service.wire import Asked as AskedOf
from gateproof.reference.service.wire import Outcome, Reply, as_json
from gateproof.reference.variants.gateway.connections import VARIANTS as CONNECTIONS
from gateproof.reference.variants.variant import Variant, variant


def _shown(document: Callable[[list[Any]], Any], status: int = 200) -> Callable[[Outcome], Reply]:
    """Returns the orders in another shape."""

    def answer(outcome: Outcome) -> Reply:
        served = outcome.kind == "served"
        return as_json(status, document(outcome.orders)) if served else answer_of(outcome)

    return answer


def _streamed(outcome: Outcome) -> Reply:
    """One event for each order, with comments between them."""
    if outcome.kind != "served":
        return answer_of(outcome)
    events = "".join(
        f"id: {number}\ndata: {json.dumps(each)}\n\n: still here\n\n"
        for number, each in enumerate(outcome.orders)
    )
    return Reply(status=200, headers=(("content-type", "text/event-stream"),), body=events.encode())


def _as_a_page(outcome: Outcome) -> Reply:
    if outcome.kind != "served":
        return answer_of(outcome)
    rows = "".join(f"<tr><td>{each['id']}<td>{each['item']}" for each in outcome.orders)
    return Reply(
        status=200,
        headers=(("content-type", "text/html; charset=utf-8"), ("cache-control", "private")),
        body=f"<!doctype html><title>Orders</title><table>{rows}</table>".encode(),
    )


def _refusing(status: int) -> Callable[[Outcome], Reply]:
    """Returns one status for all refusals and failures of gateway and merchant."""

    def answer(outcome: Outcome) -> Reply:
        if outcome.kind in ("served", "no token") or outcome.trouble is None:
            return answer_of(outcome)
        return as_json(status, {"error": "upstream", "reauthorize": outcome.kind == "reauthorize"})

    return answer


def _errors_in_200(outcome: Outcome) -> Reply:
    """Returns errors of the operation with status 200, as JSON-RPC does."""
    if outcome.kind in ("served", "no token") or outcome.trouble is None:
        return answer_of(outcome)
    return as_json(200, {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": outcome.kind}})


def _busy(outcome: Outcome) -> Reply:
    reply = answer_of(outcome)
    return replace(reply, headers=(*reply.headers, ("retry-after", "1"))) if reply.status == 503 else reply


async def _slowly(_asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    await asyncio.sleep(0.1)
    return answered


def _with_cookies(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """Adds a load balancer's cookie and a request ID."""
    name = hashlib.sha256(repr(asked).encode()).hexdigest()[:32]
    return answered.with_header("set-cookie", f"node={name}; Path=/; HttpOnly").with_header(
        "x-request-id", name
    )


def _preflights(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    allowed = answered.with_header("access-control-allow-origin", "*")
    return replace(allowed, status=204, body=b"") if asked.method == "OPTIONS" else allowed


def _barring(barred: Answered) -> Callable[[Asked, Answered, Backend], Answered]:
    """Gives `barred` as the answer to a token that was refused before."""
    known: set[str] = set()

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        token = asked.headers.get("authorization", "")
        if answered.status != 401 or token.count(".") != 2:
            return answered
        again = token in known
        known.add(token)
        return barred if again else answered

    return change


def _busy_every_second_time() -> Callable[[Asked, Answered, Backend], Answered]:
    """Answers 503 every second time that a bad token comes."""
    known: set[str] = set()

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        token = asked.headers.get("authorization", "")
        if answered.status != 401 or not token:
            return answered
        known.symmetric_difference_update({token})
        busy = Answered(status=503, headers=(("retry-after", "0"),), body=b"")
        return answered if token in known else busy

    return change


def _page_for_browsers(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """Answers other paths and methods with a page about the service."""
    if asked.path.startswith("/.well-known") or (asked.path, asked.method) in (
        ("/orders", "POST"),
        ("/mcp", "POST"),
    ):
        return answered
    page = b"<!doctype html><title>Orders</title><p>Here is where agents see orders."
    return Answered(status=200, headers=(("content-type", "text/html"),), body=page)


def _fingerprints(asked: AskedOf, reply: Reply, outcome: Outcome) -> str:
    """Logs hashes of tokens, and the outcome of the call."""
    marks = [hashlib.sha256(each.encode()).hexdigest()[:16] for each in asked.headers_named("authorization")]
    return f"{asked.method} {asked.path} {reply.status} {outcome.kind} {' '.join(marks)}"


def _access_log(asked: AskedOf, reply: Reply, _outcome: Outcome) -> str:
    """A line of an access log, with the Basic user name, the query, and all headers except Authorization."""
    headers = " ".join(f"{name}={value}" for name, value in asked.headers if name != "authorization")
    users = "".join(_basic_user(value) for value in asked.headers_named("authorization"))
    return f'{users or "-"} "{asked.method} {asked.path}?{asked.query} HTTP/1.1" {reply.status} {headers}'


def _basic_user(authorization: str) -> str:
    scheme, _, encoded = authorization.partition(" ")
    if scheme.lower() != "basic":
        return ""
    with suppress(ValueError):
        return base64.b64decode(encoded).decode().partition(":")[0]
    return ""


def _connections() -> tuple[Variant, ...]:
    """The variants of gateways' connections, which are legal for services, too."""
    return tuple(replace(each, name=f"service-{each.name}") for each in CONNECTIONS)


VARIANTS = (
    variant(
        "orders-nested: the answer has the orders at a deeper level, under other names",
        answer_of=_shown(
            lambda orders: {"data": {"viewer": {"orders": {"edges": [{"node": each} for each in orders]}}}}
        ),
    ),
    variant(
        "orders-in-a-text: the answer has the orders as JSON in a text member",
        answer_of=_shown(
            lambda orders: {
                "content": [{"type": "text", "text": json.dumps({"orders": orders})}],
                "isError": False,
            }
        ),
    ),
    variant("orders-in-a-list: the answer is an array of orders", answer_of=_shown(list)),
    variant(
        "orders-accepted: the service returns the orders with status 202",
        answer_of=_shown(lambda orders: {"orders": orders}, 202),
    ),
    variant("orders-streamed: the service returns the orders as server-sent events", answer_of=_streamed),
    variant("orders-on-a-page: the service returns the orders on an HTML page", answer_of=_as_a_page),
    variant(
        "refusals-are-forbidden: the service answers 403 when the gateway or the merchant refuses or fails",
        answer_of=_refusing(403),
    ),
    variant(
        "refusals-are-bad-gateway: the service answers 502 when the gateway or the merchant refuses or fails",
        answer_of=_refusing(502),
    ),
    variant(
        "refusals-are-401: the service answers with the challenge when the gateway or the merchant refuses "
        "or fails",
        answer_of=_refusing(401),
    ),
    variant(
        "errors-in-200: the service returns errors of the operation with status 200", answer_of=_errors_in_200
    ),
    variant("errors-ask-to-wait: the service sends Retry-After with 503", answer_of=_busy),
    variant("slow-service: the service delays every answer by 0.1 seconds", around=altering_answers(_slowly)),
    variant(
        "cookies-on-everything: the service adds a cookie and a request ID to every answer",
        around=altering_answers(_with_cookies),
    ),
    variant(
        "page-for-browsers: the service answers other methods and paths with a page",
        around=altering_answers(_page_for_browsers),
    ),
    variant(
        "bad-tokens-barred: the service answers 403 to a bad token that comes again",
        around=altering_answers(_barring(Answered(status=403, headers=(), body=b""))),
    ),
    variant(
        "bad-tokens-asked-to-wait: the service answers 429 with a Retry-After of four minutes to a bad "
        "token that comes again",
        around=altering_answers(_barring(Answered(status=429, headers=(("retry-after", "240"),), body=b""))),
    ),
    variant(
        "bad-tokens-busy: the service answers 503 with Retry-After: 0 every second time that a bad token "
        "comes",
        around=altering_answers(_busy_every_second_time()),
    ),
    variant(
        "preflights-answered: the service answers every OPTIONS request as a CORS preflight",
        around=altering_answers(_preflights),
    ),
    variant("fingerprints-of-tokens-in-the-log: the service logs hashes of tokens", logged=_fingerprints),
    variant(
        "access-log-with-the-query: the service logs the query, the Basic user name, and all headers except "
        "Authorization",
        logged=_access_log,
    ),
    *_connections(),
)
