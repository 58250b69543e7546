"""The requests that an MCP server may support, and whether the server supports them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gateproof.conformance.kit.service.mcp_session import ServiceSession
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.wire import mcp
from gateproof.conformance.wire.exchange import Exchange

# The MCP methods by the names of cases.
METHODS: Mapping[str, str] = {
    "tools-list": "tools/list",
    "tools-call": "tools/call",
    "resources-list": "resources/list",
    "resources-read": "resources/read",
    "resources-templates-list": "resources/templates/list",
    "resources-subscribe": "resources/subscribe",
    "prompts-list": "prompts/list",
    "prompts-get": "prompts/get",
    "completion-complete": "completion/complete",
}
NO_SUCH_METHOD = -32601
# "Invalid params" and "resource not found": errors about the arguments, not the method.
ABOUT_ARGUMENTS = frozenset({-32602, -32002})
WITHOUT_THE_METHOD = frozenset({400, 404, 405})
_MOST = 3
_UNKNOWN = "gateproof"
_BY_TYPE: Mapping[str, Any] = {
    "string": "x",
    "integer": 1,
    "number": 1,
    "boolean": False,
    "array": [],
    "object": {},
}


@dataclass(frozen=True, kw_only=True, slots=True)
class McpRequest:
    """One request; `is_there` is True if the server has the requested method or object.

    If `made_up`, the harness invented the arguments, which may be wrong.
    """

    method: str
    params: Mapping[str, Any] = field(default_factory=dict)
    is_there: bool
    made_up: bool = False


def requests_for(method: str, session: ServiceSession, token: str) -> list[McpRequest]:
    """The requests for this method; what exists is listed with a good token.

    No tool is called here: only the configured tool has known effects.
    """
    kind = method.partition("/")[0]
    match method:
        case "completion/complete":
            return [_completion(session, token)]
        case "resources/templates/list":
            return [_tried(session, token, McpRequest(method=method, is_there=False))]
        case _:
            pass
    member = kind
    listed = session.ask(f"{kind}/list", {}, token)
    has_list = offers(listed)
    entries = _entries(mcp.result_of(listed).get(member))
    match method:
        case "tools/call":
            return _tool_calls(session, entries)
        case "resources/read":
            uris = [entry["uri"] for entry in entries if isinstance(entry.get("uri"), str)][:_MOST]
            found = [McpRequest(method=method, params={"uri": uri}, is_there=True) for uri in uris]
            unknown = {"uri": f"file:///{_UNKNOWN}"}
            return found or [McpRequest(method=method, params=unknown, is_there=False, made_up=True)]
        case "resources/subscribe":
            uri = next((entry["uri"] for entry in entries if isinstance(entry.get("uri"), str)), None)
            params = {"uri": uri or f"file:///{_UNKNOWN}"}
            return [
                _tried(
                    session, token, McpRequest(method=method, params=params, is_there=False, made_up=not uri)
                )
            ]
        case "prompts/get":
            found = [_prompt(entry) for entry in entries if isinstance(entry.get("name"), str)][:_MOST]
            return found or [
                McpRequest(method=method, params={"name": _UNKNOWN}, is_there=False, made_up=True)
            ]
        case _:
            return [McpRequest(method=method, is_there=has_list)]


def _tried(session: ServiceSession, token: str, ask: McpRequest) -> McpRequest:
    """The same request; `is_there` follows from the response to a good token."""
    answer = session.ask(ask.method, ask.params, token)
    is_there = mcp.error_code(answer) in ABOUT_ARGUMENTS or offers(answer)
    return replace(ask, is_there=is_there)


def offers(answer: Exchange) -> bool:
    """True if the response to a good token shows that the server has the requested method."""
    if mcp.succeeded(answer):
        return True
    if is_not_found(answer):
        return False
    raise LeftOut(f"with a good token, {answer.step} is answered {answer.outcome()} without a result")


def is_not_found(answer: Exchange) -> bool:
    """True if the server has no such method, or nothing at this URL."""
    return answer.status in WITHOUT_THE_METHOD or mcp.error_code(answer) == NO_SUCH_METHOD


def _completion(session: ServiceSession, token: str) -> McpRequest:
    """The completion of an argument of the first prompt, or of an invented one if there is none."""
    listed = session.ask("prompts/list", {}, token)
    prompt = next(iter(_entries(mcp.result_of(listed).get("prompts"))), {})
    argument = next(iter(_entries(prompt.get("arguments"))), {})
    ref = {"type": "ref/prompt", "name": str(prompt.get("name", _UNKNOWN))}
    params = {"ref": ref, "argument": {"name": str(argument.get("name", "x")), "value": ""}}
    answer = session.ask("completion/complete", params, token)
    is_there = mcp.error_code(answer) in ABOUT_ARGUMENTS or offers(answer)
    return McpRequest(method="completion/complete", params=params, is_there=is_there, made_up=not prompt)


def _tool_calls(session: ServiceSession, tools: Sequence[Mapping[str, Any]]) -> list[McpRequest]:
    """The configured tool with its arguments, and some others with the arguments their schemas require."""
    asked = session.service.operation
    own = McpRequest(method="tools/call", params=mcp.called(asked.tool or "", asked.arguments), is_there=True)
    others = [tool for tool in tools if isinstance(tool.get("name"), str) and tool["name"] != asked.tool]
    return [own, *map(_tool_call, others[:_MOST])]


def _tool_call(tool: Mapping[str, Any]) -> McpRequest:
    arguments = _arguments(tool.get("inputSchema"))
    params = mcp.called(tool["name"], arguments)
    return McpRequest(method="tools/call", params=params, is_there=True, made_up=bool(arguments))


def _prompt(entry: Mapping[str, Any]) -> McpRequest:
    needed = [each for each in _entries(entry.get("arguments")) if each.get("required") is True]
    arguments = {str(each.get("name")): "x" for each in needed}
    params = {"name": entry["name"], **({"arguments": arguments} if arguments else {})}
    return McpRequest(method="prompts/get", params=params, is_there=True, made_up=bool(arguments))


def _arguments(schema: Any) -> dict[str, Any]:
    """A value of the right type for each property that the schema requires."""
    members = schema if isinstance(schema, dict) else {}
    required, properties = members.get("required"), members.get("properties")
    known = properties if isinstance(properties, dict) else {}
    names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    return {name: _value(known.get(name)) for name in names}


def _value(schema: Any) -> Any:
    members = schema if isinstance(schema, dict) else {}
    choices = members.get("enum")
    if isinstance(choices, list) and choices:
        return choices[0]
    kind = members.get("type")
    return _BY_TYPE.get(kind, "x") if isinstance(kind, str) else "x"


def _entries(listed: Any) -> list[dict[str, Any]]:
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
