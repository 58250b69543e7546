"""Agents that are correct once, but wrong when the same thing happens again."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Mapping
from typing import Any
from urllib.request import urlopen

from gateproof.reference.agent.browser import open_browser
from gateproof.reference.agent.policy import authorization
from gateproof.reference.agent.policy.authorization import Attempt, Octets, Query
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.operation import Ask, Tokens
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.policy.renewal import refreshed
from gateproof.reference.agent.wire import Failed
from gateproof.reference.defects.agent.row import defect
from gateproof.reference.defects.agent.stored_state import state_file

_FRESH_TOKENS = 2
_LOOKS = 12
Facts = Mapping[str, Any]


def second_expiry_is_the_end() -> dict[str, Any]:
    """Replaces an expired token once in the life of an install, and fails after that."""
    replaced: list[int] = []

    def renewed(_ask: Ask, _endpoints: Endpoints, _client: Client, _tokens: Tokens) -> None:
        if not replaced and state_file("replaced").exists():
            raise Failed("the token was replaced before")
        state_file("replaced").touch()
        replaced.append(1)

    return {"renewed": renewed}


def another_client_for_the_third_token() -> dict[str, Any]:
    """Registers another client after the second token of an install."""

    def told(step: str, facts: Facts) -> None:
        if step == "exchange" and facts["answer"].status == 200:
            with state_file("got").open("a") as got:
                got.write("x")

    def client_of(endpoints: Endpoints) -> str:
        got = len(state_file("got").read_text()) if state_file("got").exists() else 0
        return f"{endpoints.authorization_server}{'#again' * (got > 1)}"

    return {"told": told, "client_of": client_of}


def with_the_first_refresh_token(
    ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens
) -> dict[str, Any] | None:
    """Keeps the first refresh token instead of a new one, and fails when it is refused after a refresh."""
    tokens = refreshed(ask, endpoints, client, kept)
    if tokens is not None:
        state_file("refreshed").touch()
        return tokens | {"refresh_token": kept["refresh_token"]}
    if state_file("refreshed").exists():
        raise Failed("the refresh token is refused")
    return None


def bounded_without_a_kept_token() -> dict[str, Any]:
    """Limits the fresh tokens of a run only if the run began without a stored token."""
    came: list[bool] = []

    def told(step: str, facts: Facts) -> None:
        if step == "operation":
            came.append(bool(facts["tokens"]))
            if not came[0] and len(came) > 1 + _FRESH_TOKENS:
                raise Failed("the service refuses fresh tokens")

    return {"told": told, "fresh_tokens": 1_000_000}


def kept(over: Callable[[str, Facts], bool]) -> dict[str, Any]:
    """Reuses an attempt until `over` is true, also in later runs."""

    def fresh(octets: Octets) -> Attempt:
        if state_file("attempt").exists():
            verifier, state = state_file("attempt").read_text().split()
            return Attempt(verifier=verifier, state=state)
        drawn = authorization.fresh_attempt(octets)
        state_file("attempt").write_text(f"{drawn.verifier} {drawn.state}")
        return drawn

    def told(step: str, facts: Facts) -> None:
        if over(step, facts):
            state_file("attempt").unlink(missing_ok=True)

    return {"fresh_attempt": fresh, "told": told}


def one_for_fresh_tokens() -> dict[str, Any]:
    """Reuses verifier and state if the exchange before was successful."""
    drawn: list[Attempt] = []
    over: list[int] = []

    def fresh(octets: Octets) -> Attempt:
        drawn[:] = drawn if over == [200] else [authorization.fresh_attempt(octets)]
        return drawn[0]

    def told(step: str, facts: Facts) -> None:
        if step == "exchange":
            over[:] = [facts["answer"].status]

    return {"fresh_attempt": fresh, "told": told}


def looking_at_the_page() -> dict[str, Any]:
    """Requests the authorization URL while no code comes, in addition to the browser."""

    def opened(command: str | None, url: str, say: Callable[[str], None]) -> Callable[[], bool]:
        done, looks = open_browser(command, url, say), iter(range(_LOOKS))

        def is_done() -> bool:
            if next(looks, None) is not None:
                trust = ssl.create_default_context(cafile=os.environ["GATEPROOF_CA_FILE"])
                urlopen(url, context=trust, timeout=10).close()  # noqa: S310
            return done()

        return is_done

    return {"open_browser": opened}


def opening_again_after_an_error() -> dict[str, Any]:
    """Opens the browser again after every redirect with an error, without limit."""
    again: list[Callable[[], Callable[[], bool]]] = []
    latest: list[Callable[[], bool]] = []

    def is_done() -> bool:
        """Whether the browser that was opened last has ended; it may be slow on a busy machine."""
        return latest[0]()

    def opened(command: str | None, url: str, say: Callable[[str], None]) -> Callable[[], bool]:
        again[:] = [lambda: open_browser(command, url, say)]
        latest[:] = [again[0]()]
        return is_done

    def is_ours(query: Query, attempt: Attempt) -> bool:
        if "error" in query:
            latest[:] = [again[0]()]
            return False
        return authorization.is_ours(query, attempt)

    return {"open_browser": opened, "is_ours": is_ours, "waits_for_ours": True}


DEFECTS = (
    defect(
        "second-expiry-is-the-end (AGENT-09 AGENT-11): The agent replaces an expired token only once in the "
        "life of an install, and fails after that.",
        **second_expiry_is_the_end(),
    ),
    defect(
        "registers-again-for-the-third-token (AGENT-11): The agent registers another client for the third "
        "token of an install.",
        **another_client_for_the_third_token(),
    ),
    defect(
        "first-refresh-token-for-ever (AGENT-09): The agent ignores the new refresh token of a refresh, and "
        "fails when the first one is refused.",
        renewed=with_the_first_refresh_token,
        worth_keeping=dict,
    ),
    defect(
        "kept-token-replaced-without-end (AGENT-15): The agent limits the fresh tokens of a run only if it "
        "began without a stored token.",
        **bounded_without_a_kept_token(),
    ),
    defect(
        "attempt-kept-without-a-code (AGENT-04): The agent reuses verifier and state, also in later runs, "
        "until a redirect contains a code.",
        **kept(lambda step, facts: step == "redirect" and "code=" in facts["path"]),
    ),
    defect(
        "attempt-kept-after-a-failure (AGENT-04): The agent reuses verifier and state, also in later runs, "
        "until an exchange gets a status below 500.",
        **kept(lambda step, facts: step == "exchange" and facts["answer"].status < 500),
    ),
    defect(
        "attempt-kept-for-a-refused-token (AGENT-04): The agent reuses verifier and state after the service "
        "refused the token that they brought.",
        **one_for_fresh_tokens(),
    ),
    defect(
        "page-polled-while-pending (AGENT-08): While no code comes, the agent itself requests the "
        "authorization URL again and again.",
        **looking_at_the_page(),
    ),
    defect(
        "error-in-the-redirect-is-no-answer (AGENT-08): The agent opens the browser again after every "
        "redirect with an error, without limit.",
        **opening_again_after_an_error(),
    ),
)
