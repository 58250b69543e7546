"""Agents that open any address in the browser, or run what stands in it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

from gateproof.reference.agent.browser import open_browser
from gateproof.reference.agent.policy.authorization import may_open
from gateproof.reference.defects.agent.other_hosts import been_here
from gateproof.reference.defects.agent.row import defect

_SCRIPTS = ("javascript:", "data:", "file:")
Opened = Callable[[], bool]


def by_a_shell(quoted: Callable[[str], str]) -> dict[str, Any]:
    """The browser is started by a line for a shell, in which the address stands like this."""

    def opened(command: str | None, url: str, say: Callable[[str], None]) -> Opened:
        if command is None:
            return open_browser(command, url, say)
        line = f"{command} {quoted(url)}"
        process = subprocess.Popen(line, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)  # noqa: S602
        return lambda: process.poll() is not None

    return {"open_browser": opened}


def with_quotes_escaped(url: str) -> str:
    """What ends the quotes is escaped, and what means something inside of them is not."""
    escaped = url.replace("\\", "\\\\").replace('"', '\\"').replace("`", "\\`")
    return f'"{escaped}"'


DEFECTS = (
    defect("any-address-opened (AGENT-19): Every address is opened.", may_open=lambda _: True),
    defect(
        "address-that-begins-with-http-opened (AGENT-19): An address is opened that begins with http.",
        may_open=lambda url: url.startswith("http"),
    ),
    defect(
        "address-with-https-in-it-opened (AGENT-19): An address is opened that has https:// somewhere.",
        may_open=lambda url: "https://" in url,
    ),
    defect(
        "address-that-is-no-script-opened (AGENT-19): Every address is opened but scripts, data and files.",
        may_open=lambda url: not url.lower().startswith(_SCRIPTS),
    ),
    defect(
        "later-address-opened (AGENT-19): Every address is opened once an install has had a token.",
        may_open=lambda url: may_open(url) or been_here(url),
    ),
    defect(
        "browser-by-a-shell (AGENT-19): A shell starts the browser, with the address in double quotes.",
        **by_a_shell(lambda url: f'"{url}"'),
    ),
    defect(
        "browser-by-a-shell-in-single-quotes (AGENT-19): A shell starts the browser, with the address in "
        "single quotes.",
        **by_a_shell(lambda url: f"'{url}'"),
    ),
    defect(
        "browser-by-a-shell-with-quotes-escaped (AGENT-19): A shell starts the browser, and a dollar sign in "
        "the address is not escaped.",
        **by_a_shell(with_quotes_escaped),
    ),
    defect(
        "browser-by-a-shell-with-ampersands-escaped (AGENT-19): A shell starts the browser, and of all "
        "characters the ampersand is escaped.",
        **by_a_shell(lambda url: url.replace("&", "\\&")),
    ),
)
