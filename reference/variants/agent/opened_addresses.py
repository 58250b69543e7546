"""Other legal ways for an agent to open an address in the browser."""

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
    """As URL libraries do: what has no place in an address is written %xx."""
    return open_browser(command, quote(url, safe="-._~:/?#[]@!&()*+,=%"), say)


def _by_a_shell(command: str | None, url: str, say: Callable[[str], None]) -> Callable[[], bool]:
    if command is None:
        return open_browser(command, url, say)
    line = shlex.join([command, url])
    process = subprocess.Popen(line, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)  # noqa: S602
    return lambda: process.poll() is not None


def _in_the_clear_here(url: str) -> bool:
    """A gateway that is being developed on this machine may have no certificate."""
    return may_open(url) or (url.startswith("http://") and urlsplit(url).hostname in _HERE)


VARIANTS = (
    variant("encodes-the-address: what has no place in an address is encoded", open_browser=_encoded),
    variant(
        "quotes-the-address: a shell starts the browser, with the address quoted as a whole",
        open_browser=_by_a_shell,
    ),
    variant(
        "refuses-odd-addresses: an address that is not one by RFC 3986 is not opened",
        may_open=lambda url: may_open(url) and _OF_A_URL.fullmatch(url) is not None,
    ),
    variant(
        "opens-plain-http-on-this-machine: an address in plain HTTP is opened where it leads to this machine",
        may_open=_in_the_clear_here,
    ),
)
