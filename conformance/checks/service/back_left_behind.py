"""Resources and prompts that a user's call created at an MCP server belong to that user."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gateproof.conformance.checks.service._failing_parties import OTHER, USER, shows_orders
from gateproof.conformance.checks.service.back_session import IN_THE_SAME, SESSIONS
from gateproof.conformance.kit.service.mcp_session import LISTS, ServiceSession, session_of
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import ServiceWorld, unseen_subject
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.wire import mcp
from gateproof.conformance.wire.exchange import Exchange

_VARIABLE = re.compile(r"\{[^{}]*\}")
_UNGUESSABLE = re.compile(r"[\w-]{16}", re.ASCII)
_MOST = 5
_Asked = tuple[str, dict[str, Any]]


@check("BACK-10", cases=SESSIONS)
def what_a_call_left_behind_is_not_for_another_user(service: Service, world: ServiceWorld, case: str) -> None:
    """A user who reads resources and prompts created by another user's call gets none of that user's orders.

    They are those that the server lists for the first user, that the result of the call links to, and
    templates with the first user's subject; the other user's own lists are read as well.
    """
    gateway, subject = world.gateway, unseen_subject()
    token, another = gateway.access_token(USER, sub=subject), gateway.access_token(OTHER)
    session = session_of(service, token)
    shown = require_served(session.call(token), gateway.orders_of(USER))
    asked = [*_linked(shown), *_listed(session, token, subject)]
    others = session if case == IN_THE_SAME else session_of(service, another)
    # Names and descriptions in a list may be merchant data as well.
    lists: list[_Asked] = [(method, {}) for method in ("tools/list", *LISTS)]
    for method, params in (*lists, *asked):
        answer = others.ask(method, params, another)
        expect.that(
            not shows_orders(answer, world, USER),
            f"{answer.step} of {OTHER}, after a call of {USER}",
            expected=f"no orders of {USER}",
            got=f"{answer.outcome()} with orders of {USER}",
            exchange=answer,
        )
    if not any(mcp.succeeded(session.ask(method, params, token)) for method, params in asked):
        raise LeftOut("the server offers no resource and no prompt")


def _linked(shown: Exchange) -> Iterator[_Asked]:
    """The resources that the result of a call links to, or contains."""
    for part in _entries(mcp.result_of(shown).get("content")):
        inner = part.get("resource")
        uri = inner.get("uri") if isinstance(inner, dict) else part.get("uri")
        # A user who was given a URL that nobody can guess may pass it on.
        if isinstance(uri, str) and not _UNGUESSABLE.search(uri):
            yield "resources/read", {"uri": uri}


def _listed(session: ServiceSession, token: str, subject: str) -> Iterator[_Asked]:
    """The resources and prompts that the server lists for this user."""
    for entry in _list_of(session, "resources/list", "resources", token):
        if isinstance(entry.get("uri"), str):
            yield "resources/read", {"uri": entry["uri"]}
    for entry in _list_of(session, "resources/templates/list", "resourceTemplates", token):
        if isinstance(entry.get("uriTemplate"), str):
            yield "resources/read", {"uri": _VARIABLE.sub(subject, entry["uriTemplate"])}
    for entry in _list_of(session, "prompts/list", "prompts", token):
        if isinstance(entry.get("name"), str):
            yield "prompts/get", {"name": entry["name"]}


def _list_of(session: ServiceSession, method: str, member: str, token: str) -> list[dict[str, Any]]:
    return _entries(mcp.result_of(session.ask(method, {}, token)).get(member))


def _entries(listed: Any) -> list[dict[str, Any]]:
    found = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return found[-_MOST:]
