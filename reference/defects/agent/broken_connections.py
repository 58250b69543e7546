"""Agents that handle error statuses, but not broken connections or incomplete documents."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Mapping
from typing import Any

from gateproof.reference.agent.policy import discovery, exchange, operation
from gateproof.reference.agent.policy.exchange import ExchangeFacts
from gateproof.reference.agent.policy.operation import Ask
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer, Failed, Outgoing
from gateproof.reference.defects.agent.lost_registration import delete_state
from gateproof.reference.defects.agent.row import defect
from gateproof.reference.defects.agent.stored_state import state_file

Operate = Callable[[Settings, Ask, Mapping[str, str]], Answer]


def where_a_call_breaks_off(react: Callable[[Mapping[str, str]], None]) -> Operate:
    """Calls `react` when a call with a token gets no answer."""

    def operate(settings: Settings, ask: Ask, authorization: Mapping[str, str]) -> Answer:
        try:
            return operation.operate(settings, ask, authorization)
        except Failed:
            if authorization:
                react(authorization)
            raise

    return operate


def shown(authorization: Mapping[str, str]) -> None:
    """Prints the headers, as HTTP libraries do with the request of an error."""
    print(f"ECONNRESET: headers: {dict(authorization)}")


def forgotten_where_an_exchange_breaks_off() -> dict[str, Any]:
    """Deletes the stored state if the last exchange of a run got no answer."""
    open_exchanges: list[bool] = []

    def request(facts: ExchangeFacts) -> Outgoing:
        open_exchanges.append(True)
        return exchange.token_request(facts)

    def told(step: str, _facts: Mapping[str, Any]) -> None:
        if step == "exchange":
            open_exchanges.clear()

    def around(run: Callable[[], int]) -> int:
        code = run()
        if open_exchanges:
            delete_state()
        return code

    return {"token_request": request, "told": told, "around": around}


def forgotten_without_tokens(step: str, facts: Mapping[str, Any]) -> None:
    if step == "exchange" and facts["answer"].status == 200 and "access_token" not in facts["tokens"]:
        delete_state()


def first_metadata_for_ever() -> dict[str, Any]:
    """Uses the service's first metadata document for ever, whatever it contains."""

    def is_about(metadata: Mapping[str, Any], service_url: str) -> bool:
        right, kept = discovery.is_about(metadata, service_url), state_file("metadata.json")
        if right and not kept.exists():
            kept.write_text(json.dumps(dict(metadata)))
        return right

    def server(_metadata: Mapping[str, Any]) -> str:
        return discovery.authorization_server(json.loads(state_file("metadata.json").read_text()))

    return {"is_about": is_about, "authorization_server": server}


def in_small_letters(run: Callable[[], int]) -> int:
    """Finds headers only if their names are in lower case, as `grep '^www-authenticate:'` does."""
    whole = http.client.HTTPResponse.getheaders

    def getheaders(response: http.client.HTTPResponse) -> list[tuple[str, str]]:
        return [(name, value) for name, value in whole(response) if name == name.lower()]

    setattr(http.client.HTTPResponse, "getheaders", getheaders)  # noqa: B010 - types refuse the plain form
    return run()


DEFECTS = (
    defect(
        "request-printed-when-the-service-hangs-up (AGENT-12): The agent prints the access token when the "
        "connection of a call breaks.",
        operate=where_a_call_breaks_off(shown),
    ),
    defect(
        "client-forgotten-when-the-service-hangs-up (AGENT-11): The agent deletes its stored client when "
        "the connection of a call with a token breaks.",
        operate=where_a_call_breaks_off(lambda _: delete_state()),
    ),
    defect(
        "client-forgotten-when-an-exchange-breaks-off (AGENT-11): The agent deletes its stored client when "
        "the connection of an exchange breaks.",
        **forgotten_where_an_exchange_breaks_off(),
    ),
    defect(
        "client-forgotten-without-a-token (AGENT-11): The agent deletes its stored client when a token "
        "response with status 200 has no access token.",
        told=forgotten_without_tokens,
    ),
    defect(
        "half-the-metadata-kept (ROBUST-02 AGENT-13): The agent keeps the service's first metadata document "
        "for ever, even if it is incomplete.",
        **first_metadata_for_ever(),
    ),
    defect(
        "headers-in-small-letters (AGENT-01): The agent ignores response headers whose names contain "
        "capital letters.",
        around=in_small_letters,
    ),
)
