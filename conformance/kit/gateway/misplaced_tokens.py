"""The JWTs that the suite itself sent in a URL or a cookie, where agents send none, but for a hint.

A server may log URLs, so such a token in its log is not the server's mistake.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator

from gateproof.conformance.wire.exchange import Exchange

# The header of a JWT is a JSON object, which always begins like this.
JWT = re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]{16,}", re.ASCII)
# A browser follows the redirects of the gateway, so the gateway chose what is in those URLs.
_BROWSER = "browser"


class MisplacedTokens:
    """Digests of these tokens: a later phase of a run may receive digests, but no secrets."""

    def __init__(self, digests: Iterable[str] = ()) -> None:
        self._digests = set(digests)

    def note(self, exchange: Exchange) -> None:
        if exchange.step == _BROWSER:
            return
        for text in _places(exchange):
            self._digests.update(map(_digest, JWT.findall(text)))

    def holds(self, token: str) -> bool:
        return _digest(token) in self._digests

    def digests(self) -> list[str]:
        return sorted(self._digests)


def _places(exchange: Exchange) -> Iterator[str]:
    """The parts of a request in which a server may log a token: its URL and its cookies."""
    request = exchange.request
    yield request.url
    if request.target is not None:
        yield request.target.decode("latin-1")
    yield from (value for name, value in request.headers if name.lower() == "cookie")


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
