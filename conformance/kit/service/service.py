"""An operator's service under test, as its agents see it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from gateproof.conformance.kit.service.algorithms import Algorithms
from gateproof.conformance.kit.service.challenge import Challenge, challenges
from gateproof.conformance.kit.service.retry_after import repeat_while_asked_to_wait
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.targets.model import Operation
from gateproof.conformance.wire.client import Wire
from gateproof.conformance.wire.exchange import Exchange, Headers, Request
from gateproof.conformance.wire.keyring import Keyring
from gateproof.conformance.wire.mcp import Send, call_tool, knows_no_sessions, lone_call, succeeded
from gateproof.conformance.wire.route import line_to_add
from gateproof.conformance.wire.secret import Secret

POINTER = "resource_metadata"
NO_SESSIONS = "the MCP server has no initialize: gateproof calls servers of versions before 2026-07-28"
# The status with which a server asks to try later.
LATER = 503


@dataclass(frozen=True, kw_only=True)
class Service:
    """One operation and one metadata document; every answer is kept.

    The `patient` wire has a longer timeout. `first_metadata` is the metadata answer from before any other
    request. `algorithms` settles the signature algorithm with the first good token.
    """

    service_url: str
    metadata_url: str
    operation: Operation
    wire: Wire
    patient: Wire
    keyring: Keyring
    first_metadata: Exchange | None = None
    algorithms: Algorithms | None = None

    def metadata(self) -> Exchange:
        """The protected resource metadata document."""
        return self.fetch(self.metadata_url, "metadata")

    def fetch(self, url: str, step: str) -> Exchange:
        if not self.wire.may_reach(url):
            raise LeftOut(f"{url} is on a host that the target file does not name; {line_to_add(url)}")
        return self.wire.send(step, Request(method="GET", url=url, headers=(("Accept", "application/json"),)))

    def operate(self, *authorizations: str, query: str = "", headers: Headers = ()) -> Exchange:
        """Calls the operation with exactly these Authorization headers."""
        return self._carry_out(self.wire.send, authorizations, query, headers)

    def operate_once(self, *authorizations: str, query: str = "", headers: Headers = ()) -> Exchange:
        """Calls the operation and returns the answer as it is: a service with a fault may ask to wait."""
        return self._carry_out(self.patient.send_once, authorizations, query, headers)

    def operate_by(self, send: Send, *authorizations: str) -> Exchange:
        """Calls the operation, and sends every request with this function."""
        return self._carry_out(send, authorizations, "", ())

    def serve(self, token: str, headers: Headers = ()) -> Exchange:
        """Calls the operation with this gateway access token."""
        return self._served(token, lambda bearer: self.operate(bearer, headers=headers))

    def serve_once(self, token: str) -> Exchange:
        """Calls the operation with this gateway access token; see `operate_once`."""
        return self._served(token, self.operate_once)

    def _served(self, token: str, operate: Callable[[str], Exchange]) -> Exchange:
        def send(one: str) -> Exchange:
            self.keyring.add(Secret("access_token", one))
            return _in_a_session(operate(f"Bearer {one}"))

        return send(token) if self.algorithms is None else self.algorithms.settled(token, send)

    def serve_all(self, tokens: Sequence[str], *, at_once: int) -> list[Exchange]:
        """Calls the operation with each of these tokens, several at a time; answers in the same order."""
        with ThreadPoolExecutor(at_once) as callers:
            return list(callers.map(self.serve, tokens))

    def serve_all_once(self, tokens: Sequence[str], *, at_once: int) -> list[Exchange]:
        """The same, and returns each answer as it is; see `operate_once`."""
        with ThreadPoolExecutor(at_once) as callers:
            return list(callers.map(self.serve_once, tokens))

    def connect(self, number: int) -> None:
        """Opens this many connections in advance, so that concurrent calls are not delayed by handshakes."""
        with ThreadPoolExecutor(number) as callers:
            for answer in [callers.submit(self.metadata) for _ in range(number)]:
                answer.result()

    def with_body(self, body: Any) -> Service:
        """The same service with this JSON body for the operation."""
        return replace(self, operation=replace(self.operation, json=body))

    def request(self, own: Headers, query: str = "") -> Request:
        """The request of an HTTP operation; for MCP, a tool call without initialization."""
        asked = self.operation
        url = f"{self.service_url}{asked.path}{query}"
        if asked.kind == "mcp":
            return lone_call(url, asked.tool or "", asked.arguments, own)
        body = b"" if asked.json is None else json.dumps(asked.json).encode()
        label = () if asked.json is None else (("Content-Type", "application/json"),)
        headers = (("Accept", "application/json"), *label, *own)
        return Request(method=asked.method, url=url, headers=headers, body=body)

    def _carry_out(self, send: Send, authorizations: Sequence[str], query: str, headers: Headers) -> Exchange:
        asked = self.operation
        own = (*(("Authorization", value) for value in authorizations), *headers)
        if asked.kind == "mcp":
            url = f"{self.service_url}{asked.path}{query}"
            return call_tool(send, url, asked.tool or "", asked.arguments, own)
        return send("operation", self.request(own, query))

    def returns_orders(self, answer: Exchange, orders: Sequence[dict[str, str]]) -> bool:
        """True if the operation succeeded and returned these orders."""
        return self.succeeded(answer) and holds_orders(answer, orders)

    def succeeded(self, answer: Exchange) -> bool:
        """True if the answer says that the operation was carried out."""
        if self.operation.kind == "mcp":
            return succeeded(answer)
        return answer.status is not None and 200 <= answer.status < 300


def holds_orders(answer: Exchange, orders: Sequence[dict[str, str]]) -> bool:
    """True if the text of the answer contains all of these orders."""
    text = answer.answer.text() if answer.answer is not None else ""
    return all(order["id"] in text for order in orders)


def _in_a_session(answer: Exchange) -> Exchange:
    """Raises LeftOut for a call with a good token if the MCP server has no sessions."""
    if knows_no_sessions(answer):
        raise LeftOut(NO_SESSIONS)
    return answer


def require_served(answer: Exchange, orders: Sequence[dict[str, str]]) -> Exchange:
    """Requires that the operation succeeded and returned these orders.

    A refusal (4xx) is not counted as a failure of a step: the session, or the rate of calls, may be the
    reason. Separate checks of SERVE-01 test it.
    """
    _in_a_session(answer)
    refused = answer.status is not None and 400 <= answer.status < 500
    verb = require if refused or answer.status == LATER else require.step_of("operation")
    verb.that(
        answer.status is not None and 200 <= answer.status < 300 and holds_orders(answer, orders),
        "operation with a good token",
        expected="success with the user's orders",
        got=answer.outcome() + ("" if holds_orders(answer, orders) else " without them"),
        exchange=answer,
    )
    return answer


def expect_challenge(answer: Exchange) -> Challenge:
    """Expects a 401 whose challenge contains the URL of the metadata."""
    expect(answer).status(401)
    found = challenges_of(answer)
    bearer = [each for each in found if each.scheme.lower() == "bearer" and POINTER in each.parameters]
    expect.that(
        bool(bearer),
        answer.step,
        expected=f"WWW-Authenticate: Bearer with {POINTER}",
        got="; ".join(each.scheme for each in found) or "no challenge that can be read",
        exchange=answer,
    )
    return bearer[0]


def expect_refused_twice(ask: Callable[[], Exchange], again: Callable[[], Exchange]) -> None:
    """Expects a challenge first, and that the same request is refused `again`.

    A service may limit a caller, so 429 counts as the second refusal. After 503 the request is repeated.
    """
    expect_challenge(ask())

    expect(repeat_while_asked_to_wait(again, lambda answer: answer.status == 429)).refused()


def challenges_of(answer: Exchange) -> list[Challenge]:
    """All challenges of an answer that can be parsed."""
    values = answer.answer.headers_named("WWW-Authenticate") if answer.answer is not None else ()
    return [each for value in values for each in challenges(value)]


def document(answer: Exchange) -> dict[str, Any]:
    return expect(expect(answer).status(200)).json_object()
