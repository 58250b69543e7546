"""MCP clients that send the token to links in answers, or that handle their stream wrongly."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from gateproof.reference.agent.policy import mcp
from gateproof.reference.agent.policy.operation import Ask
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer, Failed, Outgoing, redirected
from gateproof.reference.defects.agent.row import defect
from gateproof.reference.defects.agent.stopping import MOST_REFUSED, NO_END


def icons_of_the_service(result: Mapping[str, Any]) -> Iterable[str]:
    return [icon["src"] for icon in result.get("serverInfo", {}).get("icons", ())]


def website(result: Mapping[str, Any]) -> Iterable[str]:
    said = result.get("serverInfo", {})
    return [said["websiteUrl"]] if "websiteUrl" in said else []


def linked_resources(result: Mapping[str, Any]) -> Iterable[str]:
    return [part["uri"] for part in result.get("content", ()) if part["type"] == "resource_link"]


def icons_of_tools(result: Mapping[str, Any]) -> Iterable[str]:
    return [icon["src"] for tool in result.get("tools", ()) for icon in tool.get("icons", ())]


def listing_tools(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
    """Lists the tools before the call of one."""

    def called(asked: Outgoing) -> Answer:
        if b'"tools/call"' in asked.body:
            listing = {"jsonrpc": "2.0", "method": "tools/list", "id": 9}
            ask(replace(asked, body=json.dumps(listing).encode()))
        return ask(asked)

    return mcp.call_tool(settings, called, given)


def fetching(
    links: Callable[[Mapping[str, Any]], Iterable[str]], operate: Callable[..., Answer] = mcp.call_tool
) -> Callable[..., Answer]:
    """Fetches these links of every result with the token."""

    def fetched(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
        def called(asked: Outgoing) -> Answer:
            answer = ask(asked)
            for url in links(answer.document().get("result", {})):
                ask(Outgoing(method="GET", url=url, headers=given))
            return answer

        return operate(settings, called, given)

    return fetched


def streaming(opened: Callable[[Ask, Outgoing], Answer | None]) -> Callable[..., Answer]:
    """Opens the stream before the tool is called; what `opened` returns replaces the tool's answer."""

    def operate(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
        def called(asked: Outgoing) -> Answer:
            if b'"tools/call"' not in asked.body:
                return ask(asked)
            headers = {**asked.headers, "Accept": "text/event-stream"}
            stream = Outgoing(method="GET", url=asked.url, headers=headers)
            return opened(ask, stream) or ask(asked)

        return mcp.call_tool(settings, called, given)

    return operate


def followed_anywhere(ask: Ask, stream: Outgoing) -> None:
    """Follows a redirect of the stream with the token."""
    url = redirected(stream, ask(stream))
    if url:
        ask(replace(stream, url=url))


def its_401(ask: Ask, stream: Outgoing) -> Answer | None:
    answer = ask(stream)
    return answer if answer.status == 401 else None


def renewing_for_the_stream() -> dict[str, Any]:
    """Replaces a token that the stream refuses without limit, and one that a message refuses twice."""
    refused: list[int] = []

    def operate(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
        def called(asked: Outgoing) -> Answer:
            answer = ask(asked)
            if given and asked.method == "POST" and answer.status == 401:
                refused.append(answer.status)
            if len(refused) > MOST_REFUSED:
                raise Failed("the service refuses fresh tokens")
            return answer

        return streaming(its_401)(settings, called, given)

    return {"operate": operate, "fresh_tokens": NO_END}


def renewing_for_a_tool_call() -> dict[str, Any]:
    """Replaces a token that the tool call refuses without limit: the session before it was accepted."""
    refused: list[int] = []

    def operate(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
        def called(asked: Outgoing) -> Answer:
            answer = ask(asked)
            if given and answer.status == 401 and b'"tools/call"' not in asked.body:
                refused.append(answer.status)
            if len(refused) > MOST_REFUSED:
                raise Failed("the service refuses fresh tokens")
            return answer

        return mcp.call_tool(settings, called, given)

    return {"operate": operate, "fresh_tokens": NO_END}


DEFECTS = (
    defect(
        "icons-fetched-with-the-token (AGENT-18): The agent fetches the icons of an MCP service with the "
        "token, from any host.",
        operate=fetching(icons_of_the_service),
    ),
    defect(
        "website-fetched-with-the-token (AGENT-18): The agent fetches the website of an MCP service with "
        "the token, from any host.",
        operate=fetching(website),
    ),
    defect(
        "linked-resource-fetched-with-the-token (AGENT-18): The agent reads resources to which an MCP "
        "result links with the token, from any host.",
        operate=fetching(linked_resources),
    ),
    defect(
        "tool-icons-fetched-with-the-token (AGENT-18): The agent lists the tools of an MCP service, and "
        "fetches their icons with the token from any host.",
        operate=fetching(icons_of_tools, listing_tools),
    ),
    defect(
        "stream-redirected-with-the-token (AGENT-18): The agent follows a redirect of its MCP stream to any "
        "host, with the token.",
        operate=streaming(followed_anywhere),
    ),
    defect(
        "stream-refused-without-end (AGENT-15): The agent authorizes again without limit while the MCP "
        "stream is refused.",
        **renewing_for_the_stream(),
    ),
    defect(
        "tool-call-refused-without-end (AGENT-15): The agent counts refused tokens from each accepted MCP "
        "session anew, and authorizes without limit while only the tool call is refused.",
        **renewing_for_a_tool_call(),
    ),
)
