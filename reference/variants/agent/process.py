"""Other legal ways for an agent to run, to store tokens, and to inform its user."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote

from gateproof.reference.agent.browser import open_browser
from gateproof.reference.variants.variant import variant

_SLOW_S = 0.8
_POLL_S = 0.02
# Longer than the harness waits before it opens a printed address as the user.
_LOOKED_AT_S = 1.7
_SECRET = {"state", "code_challenge"}


def _printed(_command: str | None, url: str, say: Callable[[str], None]) -> Callable[[], bool]:
    return open_browser(None, url, say)


def _printed_and_opened(command: str | None, url: str, say: Callable[[str], None]) -> Callable[[], bool]:
    say(f'if no browser opens, go to "{url}".')
    return open_browser(command, url, say)


def _opened_first(command: str | None, url: str, say: Callable[[str], None]) -> Callable[[], bool]:
    """Waits for the browser command, as `subprocess.run` does, and listens a moment later."""
    done = open_browser(command, url, say)
    while command is not None and not done():
        time.sleep(_POLL_S)
    time.sleep(_SLOW_S)
    return lambda: False


def _masked(url: str, mask: str) -> str:
    endpoint, _, query = url.partition("?")
    shown = (f"{name}={mask if name in _SECRET else quote(value)}" for name, value in parse_qsl(query))
    return f"{endpoint}?{'&'.join(shown)}"


def _printed_and_logged(_command: str | None, url: str, say: Callable[[str], None]) -> Callable[[], bool]:
    """Prints the address, and logs it before and after that, truncated or without its secrets."""
    say(f"DEBUG authorizing at {_masked(url, '***')}")
    say(f"DEBUG {url.rpartition('&')[0]}…")
    done = open_browser(None, url, say)
    say(f"DEBUG waiting for {_masked(url, '[hidden]')}")
    return done


def _logged_before_it_is_opened(
    command: str | None, url: str, say: Callable[[str], None]
) -> Callable[[], bool]:
    """Logs the address without its secrets, and opens it after a countdown."""
    say(f"opening {_masked(url, '***')} in 2 s")
    time.sleep(_LOOKED_AT_S)
    return open_browser(command, url, say)


def _logged_and_opened(command: str | None, url: str, say: Callable[[str], None]) -> Callable[[], bool]:
    """Opens the address, and logs it without its parameters and without its secrets."""
    say(f'{{"authorization_endpoint": "{url.partition("?")[0]}"}}')
    done = open_browser(command, url, say)
    say(f"opened {_masked(url, '[hidden]')}")
    time.sleep(_LOOKED_AT_S)
    return done


def _without_end_of_line(_command: str | None, url: str, _say: Callable[[str], None]) -> Callable[[], bool]:
    print(f"Please open {url} and come back: ", end="", file=sys.stderr, flush=True)
    return lambda: False


def _talks(step: str, facts: Mapping[str, Any]) -> str | None:
    """Prints where the agent is, and which address it opened."""
    shown = {"authorization": facts.get("url", ""), "operation": "asking the service"}
    return f'{{"step": "{step}", "at": {time.time():.3f}, "about": "{shown.get(step, "")}"}}'


def _exported(step: str, facts: Mapping[str, Any]) -> None:
    if step == "registration":
        os.environ["ORDERS_CLIENT_SECRET"] = facts["client"].client_secret
    if step == "authorization":
        os.environ["ORDERS_VERIFIER"] = facts["attempt"].verifier


def _slow(run: Callable[[], int]) -> int:
    time.sleep(_SLOW_S)
    return run()


def _in_a_child(run: Callable[[], int]) -> int:
    """Does the work in a child process, and waits for it."""
    child = os.fork()
    if child == 0:
        code = run()
        sys.stdout.flush()
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


VARIANTS = (
    variant(
        "keeps-no-tokens: the agent stores no tokens, so that every run gets a new one", keeps_tokens=False
    ),
    variant("keeps-all-tokens: the agent stores all tokens, not only the access token", worth_keeping=dict),
    variant(
        "waits-for-its-own-redirect: the agent ignores a redirect with a wrong state and waits for the next "
        "one",
        waits_for_ours=True,
    ),
    variant("one-fresh-token: the agent gives up when the first fresh token is refused", fresh_tokens=1),
    variant("three-fresh-tokens: the agent gives up when three fresh tokens are refused", fresh_tokens=3),
    variant("starts-over-once: the agent gives up when a second code is refused", exchanges_refused=2),
    variant(
        "asks-twice-for-a-code: the agent authorizes a second time if no code came",
        authorizations_without_code=2,
    ),
    variant(
        "address-printed: the agent prints the authorization URL and opens no browser", open_browser=_printed
    ),
    variant(
        "address-printed-and-logged: the agent prints the authorization URL, and logs it without its "
        "secrets and truncated",
        open_browser=_printed_and_logged,
    ),
    variant(
        "address-printed-in-a-prompt: the agent prints the authorization URL in a prompt without a line end",
        open_browser=_without_end_of_line,
    ),
    variant(
        "browser-first: the agent waits for the browser command, and listens for the redirect afterwards",
        open_browser=_opened_first,
        listens_first=False,
    ),
    variant(
        "address-printed-and-opened: the agent prints the authorization URL and opens it in the browser",
        open_browser=_printed_and_opened,
    ),
    variant(
        "address-logged-and-opened: the agent opens the authorization URL, and logs it without its secrets",
        open_browser=_logged_and_opened,
    ),
    variant(
        "address-logged-before-it-is-opened: the agent logs the authorization URL without its secrets, and "
        "opens it two seconds later",
        open_browser=_logged_before_it_is_opened,
    ),
    variant(
        "credentials-in-the-browsers-environment: the agent has its client secret and the verifier in "
        "environment variables, which the browser inherits, as scripts have them",
        told=_exported,
    ),
    variant("talks-a-lot: the agent prints what it does", told=_talks),
    variant("says-nothing: the agent prints only an empty line", report=lambda _: ""),
    variant("prints-the-orders: the agent prints the orders", report=repr),
    variant("another-exit-code: the agent exits with code 75 after a failure", exit_code_of_failure=75),
    variant("starts-slowly: the agent waits 0.8 seconds before it starts", around=_slow),
    variant("works-in-a-child: the agent does its work in a child process", around=_in_a_child),
)
