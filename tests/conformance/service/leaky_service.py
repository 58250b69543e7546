"""`python leaky_service.py PLACE …` serves a service that shows a credential of its backend's in one place.

But for that place it is the honest reference.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.command import main as serve_service
from gateproof.reference.service.policies import Policies
from gateproof.reference.service.policy import redemption
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.wire import Outgoing

Put = Callable[[Answered, str], Answered]
HTML = (("content-type", "text/html"),)
JSON = (("content-type", "application/json"),)


def header(name: str, value: Callable[[str], str]) -> Put:
    return lambda answered, secret: answered.with_header(name, value(secret))


def body(headers: tuple[tuple[str, str], ...], write: Callable[[bytes, str], str]) -> Put:
    return lambda answered, secret: replace(
        answered, headers=headers, body=write(answered.body, secret).encode()
    )


def orders_and(more: Callable[[str], dict[str, Any]]) -> Put:
    return body(JSON, lambda said, secret: json.dumps(json.loads(said) | more(secret)))


def redirect(answered: Answered, secret: str) -> Answered:
    return replace(answered, status=302).with_header("location", f"/sorry?token={secret}")


def trace(_said: bytes, secret: str) -> str:
    lines = ("Traceback (most recent call last):", '  File "/srv/orders.py", line 7, in fetch')
    return "\n".join([*lines, f"    headers = {{'Authorization': 'Bearer {secret}'}}", "ConnectionError"])


def result(change: Callable[[dict[str, Any], str], dict[str, Any]]) -> Put:
    """The tool's result, as it stands in the one event of the stream, is changed."""

    def put(answered: Answered, secret: str) -> Answered:
        before, _, data = answered.body.decode().partition("data: ")
        message = json.loads(data)
        message["result"] = change(message["result"], secret)
        return replace(answered, body=f"{before}data: {json.dumps(message)}\n\n".encode())

    return put


def resource(said: dict[str, Any], secret: str) -> dict[str, Any]:
    shown = {"type": "resource", "resource": {"uri": "debug://upstream", "text": f"as {secret}"}}
    return {**said, "content": [*said["content"], shown]}


def notification(answered: Answered, secret: str) -> Answered:
    params = {"level": "debug", "data": {"authorization": f"Bearer {secret}"}}
    said = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": params})
    return replace(answered, body=f"data: {said}\n\n".encode() + answered.body)


def comment(answered: Answered, secret: str) -> Answered:
    return replace(answered, body=f": upstream said yes to {secret}\n\n".encode() + answered.body)


# In answers that bring orders, over HTTP or over MCP.
SERVED: dict[str, Put] = {
    "header": header("x-upstream-authorization", lambda secret: f"Bearer {secret}"),
    "cookie": header("set-cookie", lambda secret: f"upstream={secret}; HttpOnly"),
    "etag": header("etag", lambda secret: f'W/"{secret[::-1]}"'),
    "debug-field": orders_and(
        lambda secret: {"_debug": {"state": base64.b64encode(f"xy{secret}".encode()).decode()}}
    ),
    "meta": result(lambda said, secret: {**said, "_meta": {"example.org/upstream": secret}}),
    "resource": result(resource),
    "notification": notification,
    "sse-comment": comment,
}
# In answers that say why there are none.
REFUSED: dict[str, Put] = {
    "error-text": body(
        JSON, lambda _, secret: json.dumps({"error": {"message": f"upstream refused {secret}"}})
    ),
    "stack-trace": body((("content-type", "text/plain"),), trace),
    "redirect": redirect,
    "html-comment": body(HTML, lambda _, secret: f"<!doctype html><p>Sorry.</p>\n<!-- {secret} -->\n"),
}


def leaking(place: str) -> Policies:
    seen: list[str] = []

    def redeeming(facts: CallFacts) -> Outgoing:
        seen[:] = [facts.proxy_token]
        return redemption.redemption_request(facts)

    def calling(facts: CallFacts) -> Outgoing:
        seen[:] = [facts.merchant_token]
        return redemption.merchant_request(facts)

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        if asked.path not in ("/orders", "/mcp") or not seen:
            return answered
        if place in SERVED:
            return SERVED[place](answered, seen[0]) if b"order-" in answered.body else answered
        return REFUSED[place](answered, seen[0]) if answered.status == 503 else answered

    return replace(
        Policies(), redemption_request=redeeming, merchant_request=calling, around=altering_answers(change)
    )


if __name__ == "__main__":
    sys.exit(serve_service(sys.argv[2:], leaking(sys.argv[1])))
