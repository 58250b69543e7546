"""Agents that delete their client after an error, and register again."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gateproof.reference.agent.policy import discovery, operation
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.operation import Ask, Tokens
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer
from gateproof.reference.defects.agent.later_runs import refreshed_by
from gateproof.reference.defects.agent.row import defect
from gateproof.reference.defects.agent.stored_state import state_file

_CLIENTS = "clients.json"


def forgetting_its_client(run: Callable[[], int]) -> int:
    """Deletes the stored client after a run that failed."""
    code = run()
    if code != 0:
        state_file(_CLIENTS).unlink(missing_ok=True)
    return code


def starting_from_nothing() -> dict[str, Any]:
    """Deletes the stored client when the service refuses a fresh token, as some SDKs do."""
    fresh: list[int] = []

    def told(step: str, facts: Mapping[str, Any]) -> None:
        if step == "exchange":
            fresh[:] = [1] if facts["answer"].status == 200 else []

    def metadata_url(challenges: Sequence[str], service_url: str) -> str:
        if fresh:
            state_file(_CLIENTS).unlink(missing_ok=True)
        return discovery.metadata_url(challenges, service_url)

    return {"told": told, "metadata_url": metadata_url}


def forgetting_when(helpless: Callable[[Answer], bool]) -> dict[str, Any]:
    """Deletes the stored state when `helpless` is true of the answer to a call with a token."""

    def operate(settings: Settings, ask: Ask, authorization: Mapping[str, str]) -> Answer:
        answer = operation.operate(settings, ask, authorization)
        if authorization and helpless(answer):
            delete_state()
        return answer

    return {"operate": operate}


def starting_over_where_a_refresh_fails(
    ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens
) -> dict[str, Any] | None:
    """Deletes the stored state when the gateway answers a refresh with 5xx."""
    tokens, answer = refreshed_by(ask, endpoints, client, kept)
    if answer is not None and answer.status >= 500:
        delete_state()
    return tokens


def starting_over_where_a_refresh_is_unknown(
    ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens
) -> dict[str, Any] | None:
    """Deletes the stored state when a refresh is refused, unless the refresh token is invalid."""
    tokens, answer = refreshed_by(ask, endpoints, client, kept)
    if answer is not None and answer.status == 400 and answer.document().get("error") != "invalid_grant":
        delete_state()
    return tokens


def leaving_nothing_behind(run: Callable[[], int]) -> int:
    """Deletes the stored state at SIGTERM."""

    def go(_signal: int, _frame: object) -> None:
        delete_state()
        raise SystemExit(1)

    signal.signal(signal.SIGTERM, go)
    return run()


def leaving_nothing_to_an_interrupter(run: Callable[[], int]) -> int:
    """Deletes the stored state at Ctrl-C, and shows no traceback."""
    try:
        return run()
    except KeyboardInterrupt:
        delete_state()
        return 130


def delete_state() -> None:
    shutil.rmtree(os.environ["GATEPROOF_STATE_DIR"])


DEFECTS = (
    defect(
        "client-forgotten-on-failure (AGENT-11 AGENT-08): The agent deletes its stored client after a run "
        "that failed.",
        around=forgetting_its_client,
    ),
    defect(
        "client-forgotten-with-a-fresh-token (AGENT-11): The agent deletes its stored client when the "
        "service refuses a fresh token.",
        **starting_from_nothing(),
    ),
    defect(
        "client-forgotten-when-forbidden (AGENT-11): The agent deletes its stored client when the service "
        "answers a call with 403.",
        **forgetting_when(lambda answer: answer.status == 403),
    ),
    defect(
        "client-forgotten-when-a-scope-is-missing (AGENT-11): The agent deletes its stored client when the "
        "service answers 403 because of a missing scope.",
        **forgetting_when(
            lambda answer: (
                any("scope" in said for said in answer.headers_named("www-authenticate"))
                and answer.status == 403
            )
        ),
    ),
    defect(
        "client-forgotten-when-the-service-fails (AGENT-11): The agent deletes its stored client when the "
        "service answers a call with 500.",
        **forgetting_when(lambda answer: answer.status == 500),
    ),
    defect(
        "client-forgotten-when-the-answer-is-none (AGENT-11): The agent deletes its stored client when the "
        "service answers a call with 200 but without JSON.",
        **forgetting_when(lambda answer: answer.status == 200 and not answer.document()),
    ),
    defect(
        "client-forgotten-when-a-refresh-fails (AGENT-11): The agent deletes its stored client when the "
        "gateway answers a refresh with 5xx.",
        renewed=starting_over_where_a_refresh_fails,
        worth_keeping=dict,
    ),
    defect(
        "client-forgotten-when-a-refresh-is-unknown (AGENT-11): The agent deletes its stored client when the "
        "gateway refuses a refresh with another error than invalid_grant.",
        renewed=starting_over_where_a_refresh_is_unknown,
        worth_keeping=dict,
    ),
    defect(
        "client-forgotten-when-asked-to-end (AGENT-11): The agent deletes its stored client when it "
        "receives SIGTERM.",
        around=leaving_nothing_behind,
    ),
    defect(
        "client-forgotten-when-interrupted (AGENT-11): The agent deletes its stored client when it is "
        "interrupted by Ctrl-C.",
        around=leaving_nothing_to_an_interrupter,
    ),
)
