"""Other legal ways for an agent to store its state, receive the redirect, compare the state and report."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import os
import shutil
import signal
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from gateproof.reference.agent.agent import Agent
from gateproof.reference.agent.browser import open_browser
from gateproof.reference.agent.policy import authorization, operation
from gateproof.reference.agent.policy.authorization import Attempt, Octets, Query
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.operation import Ask
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer, Outgoing
from gateproof.reference.defects.agent.values_per_install import kept
from gateproof.reference.variants.variant import variant

_TRIES = 3


def _state(name: str) -> Path:
    return Path(os.environ["GATEPROOF_STATE_DIR"]) / name


def _callback_at(host: str, listens_at: str) -> Callable[[Callable[[], int]], int]:
    """Listens at a port and a path that the agent chose in its first run and stored."""

    def around(run: Callable[[], int]) -> int:
        kept = _state("callback")
        if not kept.exists():
            with socket.create_server((listens_at, 0)) as free:
                kept.write_text(f"https://{host}:{free.getsockname()[1]}/signed/in?from=gateway")
        os.environ["GATEPROOF_CALLBACK_URL"] = kept.read_text()
        return run()

    return around


def _over_http_1_0(run: Callable[[], int]) -> int:
    """Sends every request in HTTP/1.0, as small clients do."""
    for name, value in (("_http_vsn", 10), ("_http_vsn_str", "HTTP/1.0")):
        setattr(http.client.HTTPConnection, name, value)
    return run()


def _keeping_documents(run: Callable[[], int]) -> int:
    """Reads the documents once, and uses their endpoints for the life of the install."""
    fetch, kept = Agent._discovered, _state("endpoints.json")  # noqa: SLF001 - no policy decides this

    def discovered(agent: Agent, challenged: Answer) -> Endpoints:
        if kept.exists():
            return Endpoints(**json.loads(kept.read_text()))
        found = fetch(agent, challenged)
        kept.write_text(json.dumps({name: getattr(found, name) for name in Endpoints.__dataclass_fields__}))
        return found

    setattr(Agent, "_discovered", discovered)  # noqa: B010 - a type checker would refuse the plain form
    return run()


def _keeping_at_the_end(run: Callable[[], int]) -> int:
    """Works on a copy of the state folder; a run that does not reach its end changes nothing."""
    folder = Path(os.environ["GATEPROOF_STATE_DIR"])
    copy = folder.with_name(f"{folder.name}-copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    os.environ["GATEPROOF_STATE_DIR"] = str(copy)
    code = run()
    shutil.rmtree(folder)
    copy.rename(folder)
    return code


def _ended_by_its_handler(run: Callable[[], int]) -> int:
    """Handles SIGTERM by an exit code of its own; its state folder is written at the end only."""

    def end(_signal: int, _frame: object) -> None:
        raise SystemExit(1)

    signal.signal(signal.SIGTERM, end)
    return _keeping_at_the_end(run)


def _patient() -> Callable[[Outgoing, Answer], Outgoing | None]:
    """Sends a request up to three times to a server that fails."""
    failed: dict[str, int] = {}

    def further(asked: Outgoing, answer: Answer) -> Outgoing | None:
        failed[asked.url] = failed.get(asked.url, 0) + 1 if answer.status >= 500 else 0
        return asked if 0 < failed[asked.url] < _TRIES else None

    return further


def _at_once(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
    """Sends two calls at the same time, as two tools of an agent do; the worse answer counts."""
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda _: operation.operate(settings, ask, given), range(2)))
    return max(answers, key=lambda answer: answer.status)


def _one_of_two(place: int) -> Callable[[Query, Attempt], bool]:
    """Reads one of two states, as libraries do that parse a query into a table."""
    return lambda query, attempt: list(query.get("state", ()))[place:][:1] == [attempt.state]


def _octets(state: str) -> bytes | None:
    """The decoded state; None if it is not base64url."""
    try:
        return base64.b64decode(state + "=" * (-len(state) % 4), altchars=b"-_", validate=True)
    except ValueError:
        return None


def _same_octets(query: Query, attempt: Attempt) -> bool:
    """Compares the decoded states."""
    said = [_octets(state) for state in query.get("state", ())]
    return len(said) == 1 and said[0] is not None and said[0] == _octets(attempt.state)


def _hinted(settings: Settings, client: Client, attempt: Attempt) -> dict[str, str]:
    """Sends the stored ID token as id_token_hint (OpenID Connect)."""
    whole, kept = authorization.authorization_parameters(settings, client, attempt), _state("tokens.json")
    tokens = json.loads(kept.read_text()).get(settings.service_url, {}) if kept.exists() else {}
    return whole | ({"id_token_hint": tokens["id_token"]} if "id_token" in tokens else {})


def _of_this_install(octets: Octets) -> Attempt:
    """Begins the state with a constant of the install, before a state that is random enough by itself."""
    drawn = authorization.fresh_attempt(octets)
    return replace(drawn, state=f"{kept('install', 16)}.{drawn.state}")


def _introduces_its_user(step: str, facts: Mapping[str, Any]) -> str | None:
    """Prints all claims of the ID token, and a part and a hash of the access token."""
    tokens = facts.get("tokens", {})
    if step != "exchange" or "id_token" not in tokens:
        return None
    claims = tokens["id_token"].split(".")[1]
    said = base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)).decode()
    access = tokens["access_token"]
    mark = hashlib.sha256(access.encode()).hexdigest()
    return f"signed in as {said}; token {access[:10]}…{access[-8:]}, sha256 {mark}"


VARIANTS = (
    variant(
        "callback-of-its-own: the agent listens at a port and a path that it chose itself",
        around=_callback_at("localhost", "127.0.0.1"),
    ),
    variant(
        "callback-at-another-loopback-address: the agent listens at 127.0.0.2 instead of 127.0.0.1",
        around=_callback_at("127.0.0.2", "127.0.0.2"),
    ),
    variant(
        "hangs-up-on-the-redirect: the agent accepts the redirect, and closes the connection without an "
        "answer",
        page=lambda: None,
    ),
    variant("over-http-1.0: the agent sends HTTP/1.0", around=_over_http_1_0),
    variant(
        "keeps-what-documents-say: the agent reads the documents once for an install",
        around=_keeping_documents,
    ),
    variant(
        "tries-failures-again: the agent sends a request up to three times to a server that fails",
        followed=_patient(),
    ),
    variant("calls-twice-at-once: the agent calls the service twice at the same time", operate=_at_once),
    variant(
        "first-state-counts: the agent compares the first of two states in a redirect", is_ours=_one_of_two(0)
    ),
    variant(
        "last-state-counts: the agent compares the last of two states in a redirect", is_ours=_one_of_two(-1)
    ),
    variant(
        "any-state-counts: the agent accepts two states in a redirect if one of them is its own",
        is_ours=lambda query, attempt: attempt.state in query.get("state", ()),
    ),
    variant(
        "state-by-its-octets: the agent decodes the state before it compares it",
        is_ours=_same_octets,
        # Excludes combinations with other states: only a state in base64url can be decoded.
        fresh_attempt=authorization.fresh_attempt,
    ),
    variant(
        "hints-who-signed-in: a later authorization request has the stored ID token as id_token_hint",
        authorization_parameters=_hinted,
        worth_keeping=dict,
        # Excludes combinations that print the authorization URL, because it contains a token.
        open_browser=open_browser,
        told=lambda _step, _facts: None,
    ),
    variant(
        "state-with-its-install: the state begins with a constant of the install",
        fresh_attempt=_of_this_install,
    ),
    variant(
        "keeps-all-at-the-end: the agent writes its state folder only at the end of a run, and not if a "
        "signal ends the run",
        around=_keeping_at_the_end,
    ),
    variant(
        "keeps-all-at-the-end-and-handles-signals: the agent ends with exit code 1 at SIGTERM, and has then "
        "written nothing to its state folder",
        around=_ended_by_its_handler,
    ),
    variant(
        "introduces-its-user: the agent prints the claims of the ID token, and a part and a hash of the "
        "access token",
        told=_introduces_its_user,
    ),
)
