"""Agents that keep too little between runs, or what they had better not keep."""

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


def marker(name: str) -> Path:
    return Path(os.environ["GATEPROOF_STATE_DIR"]) / name


def whatever_came(answer: Answer) -> Client:
    """What the registration brought is not looked at."""
    document = answer.document()
    return Client(client_id=str(document.get("client_id")), client_secret=str(document.get("client_secret")))


def once_failed(run: Callable[[], int]) -> int:
    """A lock is taken, and given back by whoever gets to the end."""
    lock = marker("lock")
    if lock.exists():
        print("another run is under way")
        return 1
    lock.touch()
    code = run()
    if code == 0:
        lock.unlink()
    return code


def until_its_end(run: Callable[[], int]) -> int:
    """A lock is given back at the end, whatever came of the run; of a signal nobody has thought."""
    lock = marker("lock")
    if lock.exists():
        print("another run is under way")
        return 1
    lock.touch()
    try:
        return run()
    finally:
        lock.unlink()


def until_any_end_but_one(run: Callable[[], int]) -> int:
    """A lock is given back at the end and after an error; an interruption is none."""
    lock = marker("lock")
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
    """An agent that got no code once believes for ever that it will get none."""
    refused = marker("refused")
    if step == "authorization":
        if refused.exists():
            raise Failed("this agent was not approved")
        refused.touch()
    if step == "redirect" and "code=" in facts["path"]:
        refused.unlink(missing_ok=True)


def expired(_ask: Ask, _endpoints: Endpoints, _client: Client, _tokens: Tokens) -> dict[str, Any] | None:
    raise Failed("the token has expired")


def only_where_it_is_said_why(challenges: Sequence[str], service_url: str) -> str:
    """A challenge that does not speak of the token is none to an agent that has one."""
    if marker("tokens.json").exists() and not any("invalid_token" in value for value in challenges):
        raise Failed("the service does not say that the token is invalid")
    return discovery.metadata_url(challenges, service_url)


def one_session(settings: Settings, ask: Ask, authorization: Mapping[str, str]) -> Answer:
    """A 401 in the midst of a session is a broken session."""
    answer = mcp.call_tool(settings, ask, authorization)
    if authorization and answer.status == 401:
        raise Failed("the session is broken")
    return answer


DEFECTS = (
    defect(
        "registers-every-time (AGENT-11 AGENT-08): Every run that authorizes registers.",
        keeps_client=False,
    ),
    defect(
        "expired-token-is-the-end (AGENT-09 AGENT-11): A kept token that is refused is not replaced.",
        renewed=expired,
    ),
    defect(
        "expiry-by-another-word-is-the-end (AGENT-09 ROBUST-02): A kept token is replaced where the "
        "challenge says invalid_token, and nowhere else.",
        metadata_url=only_where_it_is_said_why,
    ),
    defect(
        "session-broken-by-expiry (AGENT-09 AGENT-11 AGENT-04 AGENT-15): A token that expires between two "
        "calls is not replaced.",
        operate=one_session,
    ),
    defect("never-again-after-pending (AGENT-08): It never asks for a code again.", told=never_again),
    defect("useless-client-kept (ROBUST-02): A registration that failed is kept.", registered=whatever_came),
    defect(
        "lock-kept-by-a-signal (ROBUST-02): A run that is asked to end leaves its lock.",
        around=until_its_end,
    ),
    defect(
        "lock-kept-by-an-interruption (ROBUST-02): A run that is interrupted leaves its lock.",
        around=until_any_end_but_one,
    ),
    defect("lock-left-behind (ROBUST-02 AGENT-08): A run that fails leaves its lock.", around=once_failed),
)
