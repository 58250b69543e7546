"""An MCP session, in which the harness can send other requests than the operation."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from types import MappingProxyType
from typing import Any

from gateproof.conformance.kit.service.service import LATER, NO_SESSIONS, Service
from gateproof.conformance.suite.claims import LeftOut, require
from gateproof.conformance.wire import mcp
from gateproof.conformance.wire.exchange import Exchange, Headers, Request
from gateproof.conformance.wire.secret import Secret

# Lists that a server may offer besides tools: the method, and the member of its result.
LISTS = {
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
# Requests for objects that no server has: the error message may reveal too much.
NOT_THERE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("tools/call", {"name": "gateproof", "arguments": {}}),
    ("resources/read", {"uri": "file:///gateproof"}),
    ("prompts/get", {"name": "gateproof"}),
)
# Values for the variables of a resource template: a name that does not exist, and some that may exist.
_VALUES = ("gateproof", "config", "proxy_token")
_VARIABLE = re.compile(r"\{[^{}]*\}")
_MOST_READ = 5


@dataclass(frozen=True, kw_only=True)
class ServiceSession:
    """The headers of every request in the session except the token, and the next request IDs."""

    service: Service
    headers: Headers
    # The MCP version of requests that need no session: they contain what a session would have agreed.
    self_contained: str | None = None
    query: str = ""
    numbers: Iterator[int] = field(default_factory=lambda: count(mcp.FIRST), repr=False, compare=False)

    @property
    def url(self) -> str:
        return f"{self.service.service_url}{self.service.operation.path}{self.query}"

    def call(self, token: str | None) -> Exchange:
        """Calls the operation in this session, with this token or without one."""
        return self._operate(self.service.wire.send, token)

    def call_with(self, member: str, more: Mapping[str, Any]) -> Exchange:
        """Calls the operation without a token and with additional content in this parameter."""
        send = self.service.wire.send
        return self._operate(send, None, more) if member == "_meta" else self._operate(send, None, None, more)

    def call_once(self, token: str) -> Exchange:
        """Like `call`; the answer is returned as it is, even if it asks to wait."""
        return self._operate(self.service.patient.send_once, token)

    def lone_call(self, token: str | None) -> Request:
        """The request of the operation in this session, for the caller to send."""
        asked, headers = self.service.operation, (*_bearer(token), *self.headers)
        return mcp.lone_call(self.url, asked.tool or "", asked.arguments, headers, next(self.numbers))

    def each_by_itself(self, requests: Mapping[str, Request]) -> Mapping[str, Request]:
        """Gives each of these similar requests its own request ID."""
        return {name: mcp.numbered(request, next(self.numbers)) for name, request in requests.items()}

    def posted(self, token: str | None, message: Any) -> Request:
        """A request in this session with any body instead of a message."""
        return mcp.posted(self.url, (*_bearer(token), *self.headers), message)

    def batch(self, token: str | None) -> Request:
        """The operation as the only message of a batch (older versions of MCP allow batches)."""
        return self.posted(token, [json.loads(self.lone_call(token).body)])

    def without_id(self) -> ServiceSession:
        """The same session, but requests do not contain the session ID."""
        return self._without(mcp.SESSION)

    def named(self, identifier: str) -> ServiceSession:
        """The same session, but requests contain this session ID."""
        return replace(self, headers=(*self.without_id().headers, (mcp.SESSION, identifier)))

    def with_query(self, parameters: str) -> ServiceSession:
        """The same session, but requests have these parameters in their URL."""
        mark = "&" if "?" in self.url else "?"
        return replace(self, query=f"{self.query}{mark}{parameters}")

    def in_each_version(self) -> Iterator[ServiceSession]:
        """The same session with three version headers: as agreed, one that allows batches, and none."""
        yield from (self, self.of_version(mcp.WITH_BATCHES), self.of_version(None))

    def of_version(self, version: str | None) -> ServiceSession:
        """The same session, but requests name this version of MCP, or no version."""
        unversioned = self._without(mcp.VERSION)
        named = ((mcp.VERSION, version),) if version is not None else ()
        return replace(self, headers=(*unversioned.headers, *named))

    def sessionless(self, version: str | None) -> ServiceSession:
        """Requests outside of a session that name this version, in headers and in their parameters."""
        return replace(self.of_version(version).without_id(), self_contained=version)

    def resumed_at(self, event: str) -> ServiceSession:
        """The same session, whose stream is resumed after the event with this ID."""
        return self.with_headers((("Last-Event-ID", event),))

    def with_headers(self, more: Headers) -> ServiceSession:
        """The same session, but requests have these headers as well."""
        return replace(self, headers=(*self.headers, *more))

    def other_messages(self, token: str) -> Iterator[Exchange]:
        """What the server sends apart from the answer to a call, and what else it offers."""
        yield self.listen(token)
        send = self.service.wire.send
        yield self._ask(send, "tools/list", {}, token)
        for method, member in LISTS.items():
            listed = self._ask(send, method, {}, token)
            yield listed
            for detail, params in _detail_requests(method, mcp.result_of(listed).get(member)):
                yield self._ask(send, detail, params, token)
        yield from (self.ask(method, params, token) for method, params in NOT_THERE)
        yield from self.verbose_messages(token)

    def offered_without_token(self, token: str) -> Iterator[Exchange]:
        """The same requests without a token; the names to request come from lists fetched with the token."""
        send = self.service.wire.send
        for method, member in LISTS.items():
            yield self._ask(send, method, {}, None)
            listed = self._ask(send, method, {}, token)
            for detail, params in _detail_requests(method, mcp.result_of(listed).get(member)):
                yield self._ask(send, detail, params, None)

    def verbose_messages(self, token: str) -> Iterator[Exchange]:
        """What the server sends for a call with all log messages and progress enabled.

        Servers send these only on request; a server without a log may answer with an error.
        """
        send, said = self.service.wire.send, list[Exchange]()
        yield self._ask(send, "logging/setLevel", {"level": "debug"}, token)
        meta = {"progressToken": "progress-1"}
        yield self.listen_while(token, lambda: said.append(self._operate(send, token, meta)))
        yield from said

    def listen(self, token: str | None) -> Exchange:
        """Server-sent messages during a call of the operation, if the server supports listening."""
        return self.listen_while(token, lambda: self._called(token))

    def opened_stream(self, token: str | None) -> Exchange:
        """The answer to a request to listen, without the messages of the stream."""
        listening = mcp.listening(self.url, (*_bearer(token), *self.headers))
        return self.service.wire.send("operation: listening", replace(listening, until=lambda _: True))

    def listen_while(self, token: str | None, during: Callable[[], None]) -> Exchange:
        """Server-sent messages while `during` runs."""
        listening = mcp.listening(self.url, (*_bearer(token), *self.headers))
        step = "operation: listening" if token is not None else "operation: listening without a token"
        return self.service.wire.read_while(step, listening, during)

    def has_id(self) -> bool:
        """True if the server gave the session an ID."""
        return any(name == mcp.SESSION for name, _ in self.headers)

    def ask(self, method: str, params: Mapping[str, Any], token: str | None) -> Exchange:
        """Any request in this session, with this token or without one."""
        return self._ask(self.service.wire.send, method, dict(params), token)

    def end(self, token: str | None) -> Exchange:
        """Asks the server to delete the session."""
        return self.service.wire.send("operation: end of the session", self.ending(token))

    def ending(self, token: str | None) -> Request:
        """The request to delete the session."""
        return Request(method="DELETE", url=self.url, headers=(*_bearer(token), *self.headers))

    def _without(self, header: str) -> ServiceSession:
        return replace(self, headers=tuple(pair for pair in self.headers if pair[0] != header))

    def _called(self, token: str | None) -> None:
        self.call(token)

    def _operate(
        self,
        send: mcp.Send,
        token: str | None,
        meta: Mapping[str, Any] | None = None,
        arguments: Mapping[str, Any] = MappingProxyType({}),
    ) -> Exchange:
        asked = self.service.operation
        params = mcp.called(asked.tool or "", {**asked.arguments, **arguments}, meta)
        return self._ask(send, "tools/call", params, token)

    def _ask(self, send: mcp.Send, method: str, params: dict[str, Any], token: str | None) -> Exchange:
        if token is not None:
            self.service.keyring.add(Secret("access_token", token))
        headers = (*_bearer(token), *self.headers)
        if self.self_contained is not None:
            headers = (*headers, *mcp.message_headers(method, params))
            params = {**params, "_meta": mcp.about(self.self_contained)}
        return mcp.ask(send, self.url, headers, method, params, next(self.numbers))


def session_of(service: Service, token: str) -> ServiceSession:
    """Starts a session with this token."""
    if service.operation.kind != "mcp":
        raise LeftOut("the operation is no MCP tool")
    service.keyring.add(Secret("access_token", token))
    url = f"{service.service_url}{service.operation.path}"
    last, session = mcp.begin(service.wire.send, url, _bearer(token))
    if mcp.knows_no_sessions(last):
        raise LeftOut(NO_SESSIONS)
    failed = last.status is not None and last.status >= 500 and last.status != LATER
    verb = require.step_of("operation") if failed else require
    verb.that(session is not None, last.step, expected="a session", got=last.outcome(), exchange=last)
    assert session is not None  # noqa: S101 - required above
    return ServiceSession(service=service, headers=session.headers())


def is_a_stream(answer: Exchange) -> bool:
    """True if the answer is an event stream."""
    kind = (answer.header("Content-Type") or "").lower()
    return answer.status is not None and 200 <= answer.status < 300 and kind.startswith("text/event-stream")


def _bearer(token: str | None) -> Headers:
    return (("Authorization", f"Bearer {token}"),) if token is not None else ()


def _detail_requests(method: str, listed: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The request for the details of each entry of a list."""
    for entry in _entries(listed):
        if isinstance(entry.get("uri"), str):
            yield "resources/read", {"uri": entry["uri"]}
        elif isinstance(entry.get("uriTemplate"), str):
            for value in _VALUES:
                yield "resources/read", {"uri": _VARIABLE.sub(value, entry["uriTemplate"])}
        elif method == "prompts/list" and isinstance(entry.get("name"), str):
            yield "prompts/get", {"name": entry["name"]}


def _entries(listed: Any) -> list[dict[str, Any]]:
    return (
        [each for each in listed if isinstance(each, dict)][:_MOST_READ] if isinstance(listed, list) else []
    )
