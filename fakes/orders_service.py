"""An operator's service for agents under test: orders over plain HTTP and MCP, protected by a token."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

from gateproof.fakes.gateway.application import Routes
from gateproof.fakes.gateway.gateway import Replied
from gateproof.fakes.gateway.journal import Call, Journal
from gateproof.fakes.gateway.script import Endpoint, Script

WELL_KNOWN = "/.well-known/oauth-protected-resource"
PROTOCOLS = ("2025-06-18", "2025-03-26", "2024-11-05")
# The only revision with JSON-RPC batches: a client may send them and a server has to accept them.
WITH_BATCHES = "2025-03-26"
SESSION = "mcp-session-id"
# The first revision with links to resources in results. Other unknown members are ignored by any client.
WITH_LINKS = "2025-06-18"
# Forms of the challenge: as in RFC 9728, without quotes, and after other parameters.
QUOTED, UNQUOTED = 'Bearer resource_metadata="{pointer}"', "Bearer resource_metadata={pointer}"
AMONG_OTHERS = 'Bearer realm="orders", scope="{scope}", resource_metadata="{pointer}"'
TOOL = {
    "name": "list_orders",
    "description": "Lists the user's orders.",
    "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
}


def calls_a_tool(call: Call) -> bool:
    """True for an MCP message, or a batch, with a tool call."""
    body = call.json()
    messages = body if isinstance(body, list) else [body]
    return any(isinstance(each, dict) and each.get("method") == "tools/call" for each in messages)


_NOTHING = Replied(status=404, document={"error": "not_found"})


class OrdersService:
    """Answers correctly unless a test sets one of its attributes; every request is in its journal."""

    def __init__(
        self, url: str, *, servers: Sequence[str], scopes: Sequence[str], accepts: Callable[[str], bool]
    ) -> None:
        self.url = url
        self.servers = list(servers)
        self.scopes = list(scopes)
        self.metadata_path = WELL_KNOWN
        # The metadata URL in the challenge; None: its own.
        self.pointer: str | None = None
        # True: the metadata are at another path of the service, and not at the usual one.
        self.metadata_moved = False
        self.moved_path = f"/about/{secrets.token_hex(4)}/who-authorizes"
        # Further members beside the orders.
        self.beside_the_orders: dict[str, Any] = {}
        self.challenge = QUOTED
        # True: the challenge for a refused token has error="invalid_token" (RFC 6750 section 3.1: SHOULD).
        self.says_why = True
        self.script = Script()
        self.journal = Journal()
        self.orders = [{"id": f"order-{secrets.token_hex(6)}", "item": item} for item in ("lamp", "kettle")]
        # Every token is refused.
        self.refuses_all = False
        # The token is refused for the next n requests for the orders themselves.
        self.refuses_next = 0
        # Accepted calls are redirected to this URL with this status.
        self.redirects_to: str | None = None
        self.redirect_status = 307
        # Calls of the operation without a token are redirected to this URL, with the same status.
        self.redirects_without_token_to: str | None = None
        # The answer to a GET for an MCP stream with an accepted token; None: there is no such stream.
        self.stream_answer: Replied | None = None
        # MCP answers name a website, icons and a linked resource below this URL, in revisions with links.
        self.links_to: str | None = None
        self.sent_links = 0
        self.served: list[int] = []
        self._accepts = accepts
        # The protocol revision of each session.
        self._sessions: dict[str, str] = {}

    def routes(self) -> Routes:
        path = urlsplit(self.url).path
        orders = (Endpoint.OPERATION, self.plain)
        return {
            ("GET", f"{path}/orders"): orders,
            ("POST", f"{path}/orders"): orders,
            ("HEAD", f"{path}/orders"): (Endpoint.ELSEWHERE, self.head),
            ("GET", f"{path}/mcp"): (Endpoint.OPERATION, self.stream),
            ("POST", f"{path}/mcp"): (Endpoint.OPERATION, self.mcp),
            ("DELETE", f"{path}/mcp"): (Endpoint.OPERATION, self.end_session),
            ("GET", f"{path}{self.moved_path}"): (
                Endpoint.METADATA,
                lambda _: self.metadata() if self.metadata_moved else _NOTHING,
            ),
            **self.metadata_routes(),
        }

    def metadata_routes(self) -> Routes:
        """The metadata alone, which can be on another host."""
        path = urlsplit(self.url).path if self.metadata_path == WELL_KNOWN else ""
        return {
            ("GET", f"{path}{self.metadata_path}"): (
                Endpoint.METADATA,
                lambda _: _NOTHING if self.metadata_moved else self.metadata(),
            )
        }

    def elsewhere(self, call: Call) -> Replied:
        """404 for all other paths; without a token the challenge, except for well-known paths."""
        if "/.well-known/" in call.target:
            return _NOTHING
        return self._refused(call, counts=False) or _NOTHING

    def metadata(self) -> Replied:
        document = {
            "resource": self.url,
            "authorization_servers": self.servers,
            "scopes_supported": ["openid", *self.scopes],
            "bearer_methods_supported": ["header"],
        }
        return Replied(status=200, document=document)

    def plain(self, call: Call) -> Replied:
        """The operation over plain HTTP."""
        return self._refused(call, counts=True) or self._orders(call)

    def head(self, call: Call) -> Replied:
        """HEAD: the status without orders, so nothing counts as served."""
        return self._refused(call, counts=False) or Replied(status=200)

    def mcp(self, call: Call) -> Replied:
        """One message of an MCP client, or a batch if the revision of its session has batches."""
        body = call.json()
        refused = self._refused(call, counts=calls_a_tool(call))
        if refused is not None:
            return refused
        if not isinstance(body, list):
            return self._handled(call, body)
        if not body or self._sessions.get(call.header(SESSION) or "") != WITH_BATCHES:
            return Replied(status=400, document=_failed(None, -32600, "expected one JSON-RPC message"))
        return _batch_answer([self._handled(call, each) for each in body])

    def _handled(self, call: Call, message: Any) -> Replied:
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return Replied(status=400, document=_failed(None, -32700, "expected one JSON-RPC message"))
        if message.get("method") == "initialize":
            return self._initialized(message)
        if message.get("id") is None:
            return Replied(status=202, page="")
        if call.header(SESSION) is None:
            # Clients of revisions without sessions then begin with `initialize`.
            named = -32601 if message.get("method") == "server/discover" else -32600
            return Replied(status=400, document=_failed(message["id"], named, "initialize first"))
        if call.header(SESSION) not in self._sessions:
            return Replied(status=404, document=_failed(message["id"], -32001, "no such session"))
        return self._request_answered(call, message)

    def stream(self, call: Call) -> Replied:
        none = Replied(status=405, headers={"allow": "POST, DELETE"})
        return self._refused(call, counts=False) or self.stream_answer or none

    def end_session(self, call: Call) -> Replied:
        self._sessions.pop(call.header(SESSION) or "", None)
        return Replied(status=200)

    def _refused(self, call: Call, *, counts: bool) -> Replied | None:
        """The answer to a call without an accepted token; None if the call may go on."""
        scheme, _, token = (call.header("authorization") or "").partition(" ")
        given = scheme.lower() == "bearer" and bool(token.strip())
        if given and self._accepts(token.strip()) and not self.refuses_all:
            if self.redirects_to is not None:
                return Replied(status=self.redirect_status, headers={"location": self.redirects_to})
            if not (counts and self.refuses_next > 0):
                return None
            self.refuses_next -= 1
        target = self.redirects_without_token_to
        if not given and target is not None and call.endpoint is Endpoint.OPERATION:
            return Replied(status=self.redirect_status, headers={"location": target})
        own = self.moved_path if self.metadata_moved else self.metadata_path
        pointer = self.pointer or f"{self.url}{own}"
        scope = " ".join(("openid", *self.scopes))
        challenge = self.challenge.format(pointer=pointer, scope=scope)
        why = ', error="invalid_token"' if given and self.says_why else ""
        return Replied(
            status=401, document={"error": "unauthorized"}, headers={"www-authenticate": challenge + why}
        )

    def _orders(self, call: Call) -> Replied:
        self.served.append(call.ordinal)
        return Replied(status=200, document={"orders": self.orders, **self.beside_the_orders})

    def _initialized(self, message: dict[str, Any]) -> Replied:
        params = message.get("params")
        wanted = params.get("protocolVersion") if isinstance(params, dict) else None
        session, revision = secrets.token_urlsafe(24), wanted if wanted in PROTOCOLS else PROTOCOLS[0]
        self._sessions[session] = revision
        to = self._links_to(revision)
        website = {"websiteUrl": f"{to}/about"} if to else {}
        result: dict[str, Any] = {
            "protocolVersion": revision,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "orders", "version": "1", **website, **_icons(to, "service")},
        }
        answer = _result(message.get("id"), result)
        return Replied(status=200, document=answer.document, headers={SESSION: session})

    def _request_answered(self, call: Call, message: dict[str, Any]) -> Replied:
        number, to = message["id"], self._links_to(self._sessions[call.header(SESSION) or ""])
        match message.get("method"):
            case "ping":
                return _result(number, {})
            case "tools/list":
                return _result(number, {"tools": [{**TOOL, **_icons(to, "tool")}]})
            case "tools/call":
                return self._tool_called(call, number, message.get("params"), to)
            case _:
                return Replied(status=200, document=_failed(number, -32601, "no such method"))

    def _tool_called(self, call: Call, number: Any, params: Any, to: str | None) -> Replied:
        if not isinstance(params, dict) or params.get("name") != TOOL["name"]:
            return Replied(status=200, document=_failed(number, -32602, "no such tool"))
        self.served.append(call.ordinal)
        text = json.dumps({"orders": self.orders, **self.beside_the_orders})
        linked = [{"type": "resource_link", "uri": f"{to}/orders", "name": "orders"}] if to else []
        return _result(number, {"content": [{"type": "text", "text": text}, *linked], "isError": False})

    def _links_to(self, revision: str) -> str | None:
        if self.links_to is None or revision < WITH_LINKS:
            return None
        self.sent_links += 1
        return self.links_to


def _icons(to: str | None, whose: str) -> dict[str, Any]:
    """The icons of the service or of its tool below this URL, if there is one."""
    return {"icons": [{"src": f"{to}/{whose}.png", "mimeType": "image/png"}]} if to else {}


def _result(number: Any, result: dict[str, Any]) -> Replied:
    return Replied(status=200, document={"jsonrpc": "2.0", "id": number, "result": result})


def _batch_answer(answers: Sequence[Replied]) -> Replied:
    """One answer for all messages of a batch; 202 without a body if none of them needs an answer."""
    documents = [each.document for each in answers if each.page is None]
    if not documents:
        return Replied(status=202, page="")
    return Replied(status=200, page=json.dumps(documents), headers={"content-type": "application/json"})


def _failed(number: Any, code: int, what: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": what}}
