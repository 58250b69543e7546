"""Other legal ways for an agent to run, to keep what it has, and to talk to its user."""

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
# Longer than a user waits who would have to type.
_LOOKED_AT_S = 1.7
_SECRET = {"state", "code_challenge"}


def _printed(_command: str | None, url: str, say: Callable[[str], None]) -> Callable[[], bool]:
    return open_browser(None, url, say)


def _printed_and_opened(command: str | None, url: str, say: Callable[[str], None]) -> Callable[[], bool]:
    say(f'if no browser opens, go to "{url}".')
    return open_browser(command, url, say)


def _opened_first(command: str | None, url: str, say: Callable[[str], None]) -> Callable[[], bool]:
    """The browser command is waited for, as by `subprocess.run`; a moment later the agent listens."""
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
    """The user is shown the address, and the log has it without its secrets or its end, before and after."""
    say(f"DEBUG authorizing at {_masked(url, '***')}")
    say(f"DEBUG {url.rpartition('&')[0]}…")
    done = open_browser(None, url, say)
    say(f"DEBUG waiting for {_masked(url, '[hidden]')}")
    return done


def _logged_and_opened(command: str | None, url: str, say: Callable[[str], None]) -> Callable[[], bool]:
    """The log has the address twice, without its parameters and without its secrets; the browser has it."""
    say(f'{{"authorization_endpoint": "{url.partition("?")[0]}"}}')
    done = open_browser(command, url, say)
    say(f"opened {_masked(url, '[hidden]')}")
    time.sleep(_LOOKED_AT_S)
    return done


def _without_end_of_line(_command: str | None, url: str, _say: Callable[[str], None]) -> Callable[[], bool]:
    print(f"Please open {url} and come back: ", end="", file=sys.stderr, flush=True)
    return lambda: False


def _talks(step: str, facts: Mapping[str, Any]) -> str | None:
    """What anybody may read: where it is, and what it opened."""
    shown = {"authorization": facts.get("url", ""), "operation": "asking the service"}
    return f'{{"step": "{step}", "at": {time.time():.3f}, "about": "{shown.get(step, "")}"}}'


def _slow(run: Callable[[], int]) -> int:
    time.sleep(_SLOW_S)
    return run()


def _in_a_child(run: Callable[[], int]) -> int:
    """The work is done by a process that the first one waits for."""
    child = os.fork()
    if child == 0:
        code = run()
        sys.stdout.flush()
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


VARIANTS = (
    variant("keeps-no-tokens: every run gets a token of its own", keeps_tokens=False),
    variant("keeps-all-tokens: the state folder holds all tokens", worth_keeping=dict),
    variant("waits-for-its-own-redirect: a redirect that is not its own is passed over", waits_for_ours=True),
    variant("one-fresh-token: it gives up when the first fresh token is refused", fresh_tokens=1),
    variant("three-fresh-tokens: it gives up when three fresh tokens are refused", fresh_tokens=3),
    variant("starts-over-once: it gives up when a second code is refused", exchanges_refused=2),
    variant("asks-twice-for-a-code: without a code it asks once more", authorizations_without_code=2),
    variant("address-printed: it opens no browser and prints the address", open_browser=_printed),
    variant(
        "address-printed-and-logged: it prints the address, and logs it without its secrets and without its "
        "end",
        open_browser=_printed_and_logged,
    ),
    variant("address-printed-in-a-prompt: the address is in a prompt", open_browser=_without_end_of_line),
    variant(
        "browser-first: it waits for the browser command, and listens for the redirect afterwards",
        open_browser=_opened_first,
        listens_first=False,
    ),
    variant("address-printed-and-opened: it does both", open_browser=_printed_and_opened),
    variant("address-logged-and-opened: it logs the address cut down", open_browser=_logged_and_opened),
    variant("talks-a-lot: it prints what it does", told=_talks),
    variant("says-nothing: it prints nothing but an empty line", report=lambda _: ""),
    variant("prints-the-orders: it prints the orders as they came", report=repr),
    variant("another-exit-code: its failures have an exit code of their own", exit_code_of_failure=75),
    variant("starts-slowly: it takes its time to start", around=_slow),
    variant("works-in-a-child: its work is done by a child process", around=_in_a_child),
)
