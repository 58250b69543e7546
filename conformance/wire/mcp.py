"""A tool call over MCP's streamable HTTP: initialize, initialized and call, each one request.

The official SDK's client hides the octets that the leak search needs, and sends requests of its own. So the
few messages are written here; they are tested against the SDK's servers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gateproof.conformance.wire.exchange import Exchange, Headers, Request

PROTOCOL = "2025-06-18"
SESSION = "Mcp-Session-Id"
VERSION = "MCP-Protocol-Version"
# The last version with batches; requests without a version header are of this version.
WITH_BATCHES = "2025-03-26"
_CLIENT = {"name": "gateproof", "version": "1"}
_INITIALIZE_STEP = "operation: initialize"
# The request IDs of initialize and of the first request after it.
_INITIALIZE_ID, FIRST = 1, 2
# The errors of a server without initialize: unknown method, or unsupported version.
_NO_SUCH_METHOD, _NO_SUCH_VERSION = -32601, -32022
_ACCEPT: Headers = (
    ("Accept", "application/json, text/event-stream"),
    ("Content-Type", "application/json"),
)
Send = Callable[[str, Request], Exchange]


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """The session that an MCP server returned for initialize."""

    protocol: str
    identifier: str | None

    def headers(self) -> Headers:
        found = [(VERSION, self.protocol)]
        return (*found, *([(SESSION, self.identifier)] if self.identifier else []))


def call_tool(send: Send, url: str, tool: str, arguments: Mapping[str, Any], headers: Headers) -> Exchange:
    """The answer to the tool call, or to the earlier step that was refused."""
    last, session = begin(send, url, headers)
    if session is None:
        return last
    return ask(send, url, (*headers, *session.headers()), "tools/call", called(tool, arguments))


def begin(send: Send, url: str, headers: Headers) -> tuple[Exchange, Session | None]:
    """Starts a session: the last answer, and the session; None if a step was refused."""
    met = send(_INITIALIZE_STEP, initialize(url, headers))
    result = _result(met, _INITIALIZE_ID)
    if result is None:
        return met, None
    session = Session(protocol=str(result.get("protocolVersion") or PROTOCOL), identifier=met.header(SESSION))
    own = (*headers, *session.headers())
    told = send("operation: initialized", _request(url, own, None, "notifications/initialized", None))
    return told, session if told.status is not None and told.status < 400 else None


def knows_no_sessions(answer: Exchange) -> bool:
    """True if the server has no initialize, as the versions since 2026-07-28."""
    refusals = (_NO_SUCH_METHOD, _NO_SUCH_VERSION)
    return answer.step == _INITIALIZE_STEP and error_code(answer) in refusals


def ending(begun: Exchange) -> Request | None:
    """The request that ends the session which this exchange began, if one did."""
    request, session = begun.request, begun.header(SESSION)
    if begun.step != _INITIALIZE_STEP or session is None or _result(begun, _INITIALIZE_ID) is None:
        return None
    own = tuple(pair for pair in request.headers if pair[0].lower() == "authorization")
    return Request(method="DELETE", url=request.url, headers=(*own, (SESSION, session)))


def initialize(url: str, headers: Headers) -> Request:
    """The initialize request."""
    params = {
        "protocolVersion": PROTOCOL,
        "capabilities": {},
        "clientInfo": _CLIENT,
    }
    return _request(url, headers, _INITIALIZE_ID, "initialize", params)


def ask(
    send: Send, url: str, headers: Headers, method: str, params: Mapping[str, Any], number: int = FIRST
) -> Exchange:
    """One request in a session; `headers` contain those of the session, `number` is its ID."""
    return send(f"operation: {method}", _request(url, headers, number, method, dict(params)))


def called(tool: str, arguments: Mapping[str, Any], meta: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The parameters of a tool call, optionally with `_meta`."""
    params = {"name": tool, "arguments": dict(arguments)}
    return params if meta is None else {**params, "_meta": dict(meta)}


def message_headers(method: str, params: Mapping[str, Any]) -> Headers:
    """The headers that repeat method and name of a message (since version 2026-07-28)."""
    name = params.get("name", params.get("uri"))
    return (("Mcp-Method", method), *([("Mcp-Name", name)] if isinstance(name, str) else []))


def about(version: str) -> dict[str, Any]:
    """The client data in a request without a session (since version 2026-07-28)."""
    said = {"protocolVersion": version, "clientInfo": _CLIENT, "clientCapabilities": {}}
    return {f"io.modelcontextprotocol/{name}": value for name, value in said.items()}


def result_of(answer: Exchange) -> Mapping[str, Any]:
    """The result of a request in a session; empty if there is none."""
    return _result(answer, _number(answer.request)) or {}


def results(answer: Exchange) -> list[Mapping[str, Any]]:
    """The results of all requests of a batch."""
    if answer.answer is None:
        return []
    found = _flat(messages(answer.answer.body, answer.header("Content-Type") or ""))
    each = (message.get("result") for message in found if isinstance(message, dict))
    return [result for result in each if isinstance(result, dict)]


def error_code(answer: Exchange) -> int | None:
    """The code of the JSON-RPC error in the answer; None if there is none."""
    if answer.answer is None:
        return None
    found = _flat(messages(answer.answer.body, answer.header("Content-Type") or ""))
    errors = (each.get("error") for each in found if isinstance(each, dict))
    codes = (error.get("code") for error in errors if isinstance(error, dict))
    return next((code for code in codes if isinstance(code, int)), None)


def listening(url: str, headers: Headers) -> Request:
    """The request for server-sent messages."""
    return Request(method="GET", url=url, headers=(("Accept", "text/event-stream"), *headers))


def lone_call(
    url: str, tool: str, arguments: Mapping[str, Any], headers: Headers, number: int = FIRST
) -> Request:
    """A tool call as a request, for checks of its headers."""
    return _request(url, headers, number, "tools/call", called(tool, arguments))


def numbered(request: Request, number: int) -> Request:
    """The same request with another ID."""
    message = {**json.loads(request.body), "id": number}
    body = json.dumps(message).encode()
    return replace(request, body=body, until=lambda octets: _answers(octets, number))


def posted(url: str, headers: Headers, message: Any) -> Request:
    """Posts any JSON as a message; the first answer of any kind ends the wait."""
    body = json.dumps(message).encode()
    return Request(method="POST", url=url, headers=(*_ACCEPT, *headers), body=body, until=_answers_anything)


def succeeded(answer: Exchange) -> bool:
    """True if the tool's result is not an error, whatever the HTTP status."""
    result = _result(answer, _number(answer.request))
    return result is not None and result.get("isError") is not True


def messages(body: bytes, kind: str) -> list[Any]:
    """The JSON-RPC messages of an answer in JSON or as an event stream."""
    if kind.partition(";")[0].strip().lower() != "text/event-stream":
        return [found] if (found := _json(body)) is not None else []
    return [
        found
        for data in _events(body.decode("utf-8", "replace"))
        if (found := _json(data.encode())) is not None
    ]


def _request(url: str, headers: Headers, number: int | None, method: str, params: Any) -> Request:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    message |= {"id": number} if number is not None else {}
    message |= {"params": params} if params is not None else {}
    return Request(
        method="POST",
        url=url,
        headers=(*_ACCEPT, *headers),
        body=json.dumps(message).encode(),
        until=(lambda body: _answers(body, number)) if number is not None else None,
    )


def _answers(body: bytes, number: int) -> bool:
    """True once the answer with this ID is there: servers may keep the stream open after it."""
    return _ends_an_event(body) and _find(messages(body, "text/event-stream"), number) is not None


def _answers_anything(body: bytes) -> bool:
    """True once any answer is there: the request may have had an invalid ID."""
    return _ends_an_event(body) and any(map(_is_an_answer, _flat(messages(body, "text/event-stream"))))


def _ends_an_event(body: bytes) -> bool:
    return body.endswith((b"\n\n", b"\r\n\r\n", b"\r\r"))


def _is_an_answer(message: Any) -> bool:
    return isinstance(message, dict) and ("result" in message or "error" in message)


def _number(request: Request) -> int | None:
    """The ID of a request in a session; None for other requests, including initialize."""
    message = _json(request.body)
    number = message.get("id") if isinstance(message, dict) else None
    return number if isinstance(number, int) and number != _INITIALIZE_ID else None


def _result(answer: Exchange, number: int | None) -> dict[str, Any] | None:
    if number is None or answer.answer is None or answer.answer.status >= 300:
        return None
    kind = answer.header("Content-Type") or ""
    found = _find(messages(answer.answer.body, kind), number)
    result = found.get("result") if found is not None else None
    return result if isinstance(result, dict) else None


def _find(found: list[Any], number: int) -> dict[str, Any] | None:
    return next(
        (each for each in _flat(found) if _is_an_answer(each) and each.get("id") == number),
        None,
    )


def _flat(found: list[Any]) -> list[Any]:
    """The messages, with batches flattened."""
    return [each for message in found for each in (message if isinstance(message, list) else [message])]


def _events(text: str) -> Iterator[str]:
    """The data of each event of a stream."""
    lines: list[str] = []
    for line in [*text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""]:
        if line.startswith("data:"):
            lines.append(line[5:].removeprefix(" "))
        elif not line and lines:
            yield "\n".join(lines)
            lines = []


def _json(octets: bytes) -> Any:
    try:
        return json.loads(octets.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
