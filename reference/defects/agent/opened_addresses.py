"""Agents that open any address in the browser, or pass it to a shell."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

from gateproof.reference.agent.browser import open_browser
from gateproof.reference.agent.policy.authorization import may_open
from gateproof.reference.defects.agent.other_hosts import token_is_stored_for
from gateproof.reference.defects.agent.row import defect

_SCRIPTS = ("javascript:", "data:", "file:")
Opened = Callable[[], bool]


def by_a_shell(quoted: Callable[[str], str]) -> dict[str, Any]:
    """Starts the browser by a shell command that contains the address as `quoted` writes it."""

    def opened(command: str | None, url: str, say: Callable[[str], None]) -> Opened:
        if command is None:
            return open_browser(command, url, say)
        line = f"{command} {quoted(url)}"
        process = subprocess.Popen(line, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)  # noqa: S602
        return lambda: process.poll() is not None

    return {"open_browser": opened}


def with_quotes_escaped(url: str) -> str:
    """Escapes everything that has a meaning in double quotes, except the dollar sign."""
    escaped = url.replace("\\", "\\\\").replace('"', '\\"').replace("`", "\\`")
    return f'"{escaped}"'


def with_backslashes_left(url: str) -> str:
    """Escapes everything that has a meaning in double quotes, except the backslash."""
    escaped = url.translate({ord(each): f"\\{each}" for each in '"$`'})
    return f'"{escaped}"'


DEFECTS = (
    defect(
        "any-address-opened (AGENT-19): The agent opens an authorization URL of any scheme.",
        may_open=lambda _: True,
    ),
    defect(
        "address-that-begins-with-http-opened (AGENT-19): The agent opens every authorization URL that "
        "begins with `http`.",
        may_open=lambda url: url.startswith("http"),
    ),
    defect(
        "address-with-https-in-it-opened (AGENT-19): The agent opens every authorization URL that contains "
        "`https://`.",
        may_open=lambda url: "https://" in url,
    ),
    defect(
        "address-that-is-no-script-opened (AGENT-19): The agent opens every authorization URL except "
        "javascript:, data: and file: URLs.",
        may_open=lambda url: not url.lower().startswith(_SCRIPTS),
    ),
    defect(
        "later-address-opened (AGENT-19): Once an install has a token, the agent opens any authorization "
        "URL.",
        may_open=lambda url: may_open(url) or token_is_stored_for(url),
    ),
    defect(
        "browser-by-a-shell (AGENT-19): The agent starts the browser by a shell command with the URL in "
        "double quotes.",
        **by_a_shell(lambda url: f'"{url}"'),
    ),
    defect(
        "browser-by-a-shell-in-single-quotes (AGENT-19): The agent starts the browser by a shell command "
        "with the URL in single quotes.",
        **by_a_shell(lambda url: f"'{url}'"),
    ),
    defect(
        "browser-by-a-shell-with-quotes-escaped (AGENT-19): The agent starts the browser by a shell "
        "command, and does not escape dollar signs in the URL.",
        **by_a_shell(with_quotes_escaped),
    ),
    defect(
        "browser-by-a-shell-with-backslashes-left (AGENT-19): The agent starts the browser by a shell "
        "command, and escapes quotes and dollar signs in the URL, but not backslashes.",
        **by_a_shell(with_backslashes_left),
    ),
    defect(
        "browser-by-a-shell-with-ampersands-escaped (AGENT-19): The agent starts the browser by a shell "
        "command, and escapes only ampersands in the URL.",
        **by_a_shell(lambda url: url.replace("&", "\\&")),
    ),
)
