"""Agents that store too little between runs, or something that makes later runs fail."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gateproof.reference.agent.policy import discovery, mcp
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.operation import Ask, Tokens
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer, Failed
from gateproof.reference.defects.agent.row import defect


def state_file(name: str) -> Path:
    return Path(os.environ["GATEPROOF_STATE_DIR"]) / name


def whatever_came(answer: Answer) -> Client:
    """Stores what the registration returned without validation."""
    document = answer.document()
    return Client(client_id=str(document.get("client_id")), client_secret=str(document.get("client_secret")))


def once_failed(run: Callable[[], int]) -> int:
    """Takes a lock, and releases it only after a successful run."""
    lock = state_file("lock")
    if lock.exists():
        print("another run is under way")
        return 1
    lock.touch()
    code = run()
    if code == 0:
        lock.unlink()
    return code


def until_its_end(run: Callable[[], int]) -> int:
    """Releases the lock after success and errors, but not when a signal ends the process."""
    lock = state_file("lock")
    if lock.exists():
        print("another run is under way")
        return 1
    lock.touch()
    try:
        return run()
    finally:
        lock.unlink()


def until_any_end_but_one(run: Callable[[], int]) -> int:
    """Releases the lock after success and errors, but not after an interruption."""
    lock = state_file("lock")
    if lock.exists():
        print("another run is under way")
        return 1
    lock.touch()
    try:
        code = run()
    except Exception:
        lock.unlink()
        raise
    lock.unlink()
    return code


def never_again(step: str, facts: Mapping[str, Any]) -> None:
    """Never authorizes again after an authorization without a code."""
    refused = state_file("refused")
    if step == "authorization":
        if refused.exists():
            raise Failed("this agent was not approved")
        refused.touch()
    if step == "redirect" and "code=" in facts["path"]:
        refused.unlink(missing_ok=True)


def expired(_ask: Ask, _endpoints: Endpoints, _client: Client, _tokens: Tokens) -> dict[str, Any] | None:
    raise Failed("the token has expired")


def only_where_it_is_said_why(challenges: Sequence[str], service_url: str) -> str:
    """Fails at a challenge without `invalid_token` if a token is stored."""
    if state_file("tokens.json").exists() and not any("invalid_token" in value for value in challenges):
        raise Failed("the service does not say that the token is invalid")
    return discovery.metadata_url(challenges, service_url)


def one_session(settings: Settings, ask: Ask, authorization: Mapping[str, str]) -> Answer:
    """Fails at a 401 to a call with a token in an MCP session."""
    answer = mcp.call_tool(settings, ask, authorization)
    if authorization and answer.status == 401:
        raise Failed("the session is broken")
    return answer


DEFECTS = (
    defect(
        "registers-every-time (AGENT-11 AGENT-08): The agent registers again in every run that authorizes.",
        keeps_client=False,
    ),
    defect(
        "expired-token-is-the-end (AGENT-09 AGENT-11): The agent fails when a stored token is refused, "
        "instead of replacing it.",
        renewed=expired,
    ),
    defect(
        "expiry-by-another-word-is-the-end (AGENT-09 ROBUST-02): The agent replaces a refused token only if "
        "the challenge says invalid_token.",
        metadata_url=only_where_it_is_said_why,
    ),
    defect(
        "session-broken-by-expiry (AGENT-09 AGENT-11 AGENT-04 AGENT-15): The agent fails when its token is "
        "refused in an MCP session, instead of replacing it.",
        operate=one_session,
    ),
    defect(
        "never-again-after-pending (AGENT-08): After one authorization without a code, the agent never "
        "authorizes again.",
        told=never_again,
    ),
    defect(
        "useless-client-kept (ROBUST-02): The agent stores the client of a registration that failed.",
        registered=whatever_came,
    ),
    defect(
        "lock-kept-by-a-signal (ROBUST-02): A run that SIGTERM ends does not release its lock.",
        around=until_its_end,
    ),
    defect(
        "lock-kept-by-an-interruption (ROBUST-02): A run that is interrupted by Ctrl-C does not release its "
        "lock.",
        around=until_any_end_but_one,
    ),
    defect(
        "lock-left-behind (ROBUST-02 AGENT-08): A run that fails does not release its lock.",
        around=once_failed,
    ),
)
