"""Other legal ways for an agent to open the authorization URL in the browser."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable
from urllib.parse import quote, urlsplit

from gateproof.reference.agent.browser import open_browser
from gateproof.reference.agent.policy.authorization import may_open
from gateproof.reference.variants.variant import variant

_OF_A_URL = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+")
_HERE = ("127.0.0.1", "localhost", "::1")


def _encoded(command: str | None, url: str, say: Callable[[str], None]) -> Callable[[], bool]:
    """Percent-encodes characters that are not allowed in a URL, as URL libraries do."""
    return open_browser(command, quote(url, safe="-._~:/?#[]@!&()*+,=%"), say)


def _by_a_shell(command: str | None, url: str, say: Callable[[str], None]) -> Callable[[], bool]:
    if command is None:
        return open_browser(command, url, say)
    line = shlex.join([command, url])
    process = subprocess.Popen(line, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)  # noqa: S602
    return lambda: process.poll() is not None


def _in_the_clear_here(url: str) -> bool:
    """Allows plain HTTP on this machine, where a gateway under development may have no certificate."""
    return may_open(url) or (url.startswith("http://") and urlsplit(url).hostname in _HERE)


VARIANTS = (
    variant(
        "encodes-the-address: the agent percent-encodes characters that are not allowed in a URL",
        open_browser=_encoded,
    ),
    variant(
        "quotes-the-address: the agent starts the browser by a shell command in which the whole URL is "
        "quoted",
        open_browser=_by_a_shell,
    ),
    variant(
        "refuses-odd-addresses: the agent does not open a URL with characters that RFC 3986 does not allow",
        may_open=lambda url: may_open(url) and _OF_A_URL.fullmatch(url) is not None,
    ),
    variant(
        "opens-plain-http-on-this-machine: the agent opens a URL in plain HTTP if its host is this machine",
        may_open=_in_the_clear_here,
    ),
)
