"""Batches of MCP messages without a token."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from gateproof.conformance.checks.service.chal_operations import begun
from gateproof.conformance.kit.service.mcp_session import ServiceSession
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.wire import mcp
from gateproof.conformance.wire.exchange import Exchange

# Methods before the request for the list of tools. A guard may let a batch pass because of its first method.
BATCHES: Mapping[str, tuple[str, ...]] = {
    "alone": (),
    "after-initialize": ("initialize",),
    "after-ping": ("ping",),
}


@check("CHAL-10", cases=BATCHES)
def no_batch_lists_tools(service: Service, world: ServiceWorld, case: tuple[str, ...]) -> None:
    """Without a token, a batch of messages does not list the tools, in a session and outside.

    Only some versions of MCP have batches.
    """
    session, token = begun(service, world)
    sessions = tuple(session.in_each_version())
    for each in (own for of_version in sessions for own in (of_version, of_version.without_id())):
        answer = _sent(each, case, None)
        expect.that(
            not _lists_tools(answer),
            answer.step,
            expected="no list of tools: the request has no token",
            got=f"{answer.outcome()} with the tools",
            exchange=answer,
        )
    if not any(_lists_tools(_sent(each, case, token)) for each in sessions):
        raise LeftOut("the server lists no tools in such a batch, not even with a good token")


def _sent(session: ServiceSession, before: tuple[str, ...], token: str | None) -> Exchange:
    batch = list(_messages(session, (*before, "tools/list")))
    return session.service.wire.send("operation: tools/list in a batch", session.posted(token, batch))


def _messages(session: ServiceSession, methods: tuple[str, ...]) -> Iterator[Mapping[str, object]]:
    for method in methods:
        first = json.loads(mcp.initialize(session.url, ()).body)
        params = first["params"] if method == "initialize" else {}
        yield {"jsonrpc": "2.0", "id": next(session.numbers), "method": method, "params": params}


def _lists_tools(answer: Exchange) -> bool:
    """True if any message of the answer has a result with tools."""
    return any("tools" in result for result in mcp.results(answer))
