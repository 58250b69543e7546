"""Agents that are right once, and wrong when the same thing happens to them again."""

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
from gateproof.reference.defects.agent.stored_state import marker

_FRESH_TOKENS = 2
_LOOKS = 12
Facts = Mapping[str, Any]


def second_expiry_is_the_end() -> dict[str, Any]:
    """A token is replaced for the first time in the life of an install, and never after that."""
    replaced: list[int] = []

    def renewed(_ask: Ask, _endpoints: Endpoints, _client: Client, _tokens: Tokens) -> None:
        if not replaced and marker("replaced").exists():
            raise Failed("the token was replaced before")
        marker("replaced").touch()
        replaced.append(1)

    return {"renewed": renewed}


def another_client_for_the_third_token() -> dict[str, Any]:
    """The client goes with the second token that the install gets."""

    def told(step: str, facts: Facts) -> None:
        if step == "exchange" and facts["answer"].status == 200:
            with marker("got").open("a") as got:
                got.write("x")

    def client_of(endpoints: Endpoints) -> str:
        got = len(marker("got").read_text()) if marker("got").exists() else 0
        return f"{endpoints.authorization_server}{'#again' * (got > 1)}"

    return {"told": told, "client_of": client_of}


def with_the_first_refresh_token(
    ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens
) -> dict[str, Any] | None:
    """A refresh token that comes with a new access token is not kept, and the old one was good once."""
    tokens = refreshed(ask, endpoints, client, kept)
    if tokens is not None:
        marker("refreshed").touch()
        return tokens | {"refresh_token": kept["refresh_token"]}
    if marker("refreshed").exists():
        raise Failed("the refresh token is refused")
    return None


def bounded_without_a_kept_token() -> dict[str, Any]:
    """Fresh tokens are counted from a run's first one; after one that was kept, nobody counts."""
    came: list[bool] = []

    def told(step: str, facts: Facts) -> None:
        if step == "operation":
            came.append(bool(facts["tokens"]))
            if not came[0] and len(came) > 1 + _FRESH_TOKENS:
                raise Failed("the service refuses fresh tokens")

    return {"told": told, "fresh_tokens": 1_000_000}


def kept(over: Callable[[str, Facts], bool]) -> dict[str, Any]:
    """An attempt is good until it is `over`, in this run or in another one."""

    def fresh(octets: Octets) -> Attempt:
        if marker("attempt").exists():
            verifier, state = marker("attempt").read_text().split()
            return Attempt(verifier=verifier, state=state)
        drawn = authorization.fresh_attempt(octets)
        marker("attempt").write_text(f"{drawn.verifier} {drawn.state}")
        return drawn

    def told(step: str, facts: Facts) -> None:
        if over(step, facts):
            marker("attempt").unlink(missing_ok=True)

    return {"fresh_attempt": fresh, "told": told}


def one_for_fresh_tokens() -> dict[str, Any]:
    """What was drawn for a token that is refused is used for the next one."""
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
    """While no code comes, the agent asks the gateway itself for the page that its user is looking at."""

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
    """A redirect with an error sends the user there once more, without end."""
    again: list[Callable[[], Callable[[], bool]]] = []
    latest: list[Callable[[], bool]] = []

    def is_done() -> bool:
        """The browser that was opened last counts: it may need its time on a busy machine."""
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
        "second-expiry-is-the-end (AGENT-09 AGENT-11): A token that expires is replaced once for each "
        "install.",
        **second_expiry_is_the_end(),
    ),
    defect(
        "registers-again-for-the-third-token (AGENT-11): The third token of an install is got with another "
        "client.",
        **another_client_for_the_third_token(),
    ),
    defect(
        "first-refresh-token-for-ever (AGENT-09): The refresh token that replaces the first one is not "
        "kept, and without a good one it ends.",
        renewed=with_the_first_refresh_token,
        worth_keeping=dict,
    ),
    defect(
        "kept-token-replaced-without-end (AGENT-15): Fresh tokens are counted where none was kept, and "
        "nowhere else.",
        **bounded_without_a_kept_token(),
    ),
    defect(
        "attempt-kept-without-a-code (AGENT-04): Verifier and state are used until a redirect has brought a "
        "code.",
        **kept(lambda step, facts: step == "redirect" and "code=" in facts["path"]),
    ),
    defect(
        "attempt-kept-after-a-failure (AGENT-04): Verifier and state are used until an exchange has been "
        "answered, and not with a failure.",
        **kept(lambda step, facts: step == "exchange" and facts["answer"].status < 500),
    ),
    defect(
        "attempt-kept-for-a-refused-token (AGENT-04): Verifier and state are used again where the token "
        "that they brought is refused.",
        **one_for_fresh_tokens(),
    ),
    defect(
        "page-polled-while-pending (AGENT-08): While no code comes, it asks for the page of the "
        "authorization itself, again and again.",
        **looking_at_the_page(),
    ),
    defect(
        "error-in-the-redirect-is-no-answer (AGENT-08): A redirect with an error opens the browser again, "
        "without end.",
        **opening_again_after_an_error(),
    ),
)
