"""Other legal ways for an agent to keep what it was told, to be reached, and to say what it found."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import os
import shutil
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
    """A host, a port and a path that the agent chose in its first run, and keeps."""

    def around(run: Callable[[], int]) -> int:
        kept = _state("callback")
        if not kept.exists():
            with socket.create_server((listens_at, 0)) as free:
                kept.write_text(f"https://{host}:{free.getsockname()[1]}/signed/in?from=gateway")
        os.environ["GATEPROOF_CALLBACK_URL"] = kept.read_text()
        return run()

    return around


def _over_http_1_0(run: Callable[[], int]) -> int:
    """Every request is one of HTTP/1.0, as small clients send them."""
    for name, value in (("_http_vsn", 10), ("_http_vsn_str", "HTTP/1.0")):
        setattr(http.client.HTTPConnection, name, value)
    return run()


def _keeping_documents(run: Callable[[], int]) -> int:
    """What the documents said the first time is believed for as long as the install lasts."""
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
    """A run works on a copy of its state folder; who does not get to the end leaves the folder as it was."""
    folder = Path(os.environ["GATEPROOF_STATE_DIR"])
    copy = folder.with_name(f"{folder.name}-copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    os.environ["GATEPROOF_STATE_DIR"] = str(copy)
    code = run()
    shutil.rmtree(folder)
    copy.rename(folder)
    return code


def _patient() -> Callable[[Outgoing, Answer], Outgoing | None]:
    """A server that fails is asked three times in all, whatever was asked."""
    failed: dict[str, int] = {}

    def further(asked: Outgoing, answer: Answer) -> Outgoing | None:
        failed[asked.url] = failed.get(asked.url, 0) + 1 if answer.status >= 500 else 0
        return asked if 0 < failed[asked.url] < _TRIES else None

    return further


def _at_once(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
    """Two calls at one moment, as two tools of one agent make them; the worse answer counts."""
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda _: operation.operate(settings, ask, given), range(2)))
    return max(answers, key=lambda answer: answer.status)


def _one_of_two(place: int) -> Callable[[Query, Attempt], bool]:
    """Libraries that read a query as a table keep the first or the last of two values."""
    return lambda query, attempt: list(query.get("state", ()))[place:][:1] == [attempt.state]


def _octets(state: str) -> bytes | None:
    """What base64url is decoded to, where it is that."""
    try:
        return base64.b64decode(state + "=" * (-len(state) % 4), altchars=b"-_", validate=True)
    except ValueError:
        return None


def _same_octets(query: Query, attempt: Attempt) -> bool:
    """What the state is written for counts, and not how it is written."""
    said = [_octets(state) for state in query.get("state", ())]
    return len(said) == 1 and said[0] is not None and said[0] == _octets(attempt.state)


def _hinted(settings: Settings, client: Client, attempt: Attempt) -> dict[str, str]:
    """Who has signed in before is told to the gateway, as OpenID Connect has it."""
    whole, kept = authorization.authorization_parameters(settings, client, attempt), _state("tokens.json")
    tokens = json.loads(kept.read_text()).get(settings.service_url, {}) if kept.exists() else {}
    return whole | ({"id_token_hint": tokens["id_token"]} if "id_token" in tokens else {})


def _of_this_install(octets: Octets) -> Attempt:
    """The state begins with what the install has kept for it; what follows is random enough by itself."""
    drawn = authorization.fresh_attempt(octets)
    return replace(drawn, state=f"{kept('install', 16)}.{drawn.state}")


def _introduces_its_user(step: str, facts: Mapping[str, Any]) -> str | None:
    """Who signed in, all that the ID token says, and marks by which tokens can be told apart."""
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
        "callback-of-its-own: it listens at a port and a path of its own",
        around=_callback_at("localhost", "127.0.0.1"),
    ),
    variant(
        "callback-at-another-loopback-address: it listens at an address of the loopback network that is not "
        "its first",
        around=_callback_at("127.0.0.2", "127.0.0.2"),
    ),
    variant(
        "hangs-up-on-the-redirect: its callback takes the redirect, and shows no page",
        page=lambda: None,
    ),
    variant("over-http-1.0: it speaks HTTP/1.0", around=_over_http_1_0),
    variant("keeps-what-documents-say: it reads the documents once", around=_keeping_documents),
    variant("tries-failures-again: it asks a server that fails three times", followed=_patient()),
    variant("calls-twice-at-once: it calls the service twice at one moment", operate=_at_once),
    variant("first-state-counts: of two states in a redirect the first counts", is_ours=_one_of_two(0)),
    variant("last-state-counts: of two states in a redirect the last counts", is_ours=_one_of_two(-1)),
    variant(
        "any-state-counts: of two states in a redirect it is enough that one is its own",
        is_ours=lambda query, attempt: attempt.state in query.get("state", ()),
    ),
    variant(
        "state-by-its-octets: the state is decoded, and then compared",
        is_ours=_same_octets,
        # A state that is no base64url has no octets to compare.
        fresh_attempt=authorization.fresh_attempt,
    ),
    variant(
        "hints-who-signed-in: a later authorization has the ID token as its hint",
        authorization_parameters=_hinted,
        worth_keeping=dict,
        # An address with a token in it is for a browser, and not for the output.
        open_browser=open_browser,
        told=lambda _step, _facts: None,
    ),
    variant(
        "state-with-its-install: the state begins with what the install has kept for it",
        fresh_attempt=_of_this_install,
    ),
    variant(
        "keeps-all-at-the-end: what is to be kept is written at the end of a run, and by no run that a "
        "signal ends",
        around=_keeping_at_the_end,
    ),
    variant("introduces-its-user: it prints claims and fingerprints", told=_introduces_its_user),
)
