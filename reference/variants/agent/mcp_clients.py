"""Legal MCP clients that use more of the protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from gateproof.reference.agent.policy import mcp
from gateproof.reference.agent.policy.operation import Ask
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer, Outgoing
from gateproof.reference.defects.agent.mcp_clients import (
    icons_of_the_service,
    linked_resources,
    streaming,
    website,
)
from gateproof.reference.variants.variant import variant


def _links(result: Mapping[str, Any]) -> Iterable[str]:
    return chain(icons_of_the_service(result), website(result), linked_resources(result))


def _links_without_the_token(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
    """Fetches all links of answers, without the token."""

    def called(asked: Outgoing) -> Answer:
        answer = ask(asked)
        for url in _links(answer.document().get("result", {})):
            ask(Outgoing(method="GET", url=url))
        return answer

    return mcp.call_tool(settings, called, given)


def _opened(ask: Ask, stream: Outgoing) -> None:
    """Opens the stream; the operation does not depend on it."""
    ask(stream)


VARIANTS = (
    variant(
        "links-without-the-token: the agent is an MCP client, and fetches icons, websites and linked "
        "resources without the token",
        operate=_links_without_the_token,
    ),
    variant(
        "stream-not-needed: the agent is an MCP client that opens the stream, and works without it",
        operate=streaming(_opened),
    ),
)
