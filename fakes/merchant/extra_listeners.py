"""Additional addresses of the merchant, one for each Resource; a test can close one without the others."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from starlette.types import ASGIApp

from gateproof.fakes.listener import SwitchableListener

# States that need no extra certificate: the merchant as usual, not listening, HTTP in place of TLS.
OPEN, SHUT, PLAIN = "open", "shut", "plain"


class ListenerError(ValueError):
    """There is no such listener, or it has no such state."""


class ExtraListeners:
    """Opens ports beside the merchant's own, with the same application behind them."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        token_endpoint: str,
        host: str,
        named: Callable[[str], str],
        tls: ssl.SSLContext | None,
        certificates: Mapping[str, ssl.SSLContext],
    ) -> None:
        self._app = app
        self._endpoint = urlsplit(token_endpoint)
        self._host = host
        self._named = named
        self._states: dict[str, ssl.SSLContext | None] = {OPEN: tls, **certificates}
        if tls is not None:
            self._states[PLAIN] = None
        self._listeners: dict[str, SwitchableListener] = {}

    async def open(self) -> str:
        """Opens a listener; returns the URL of the token endpoint there, which identifies the listener."""
        listener = SwitchableListener(self._app, host=self._host)
        await listener.open(self._states[OPEN])
        url = self._endpoint._replace(netloc=self._named(listener.netloc)).geturl()
        self._listeners[url] = listener
        return url

    async def switch(self, url: str, state: str) -> int:
        """Drops every connection and changes the state; returns the number of connections before."""
        listener = self._find(url)
        if state != SHUT and state not in self._states:
            raise ListenerError(f"no state {state!r}; there are {', '.join(sorted({SHUT, *self._states}))}")
        return await (listener.shut() if state == SHUT else listener.open(self._states[state]))

    def connections(self, url: str) -> int:
        """The number of connections since the last change of state."""
        return self._find(url).connections

    def close(self, url: str) -> None:
        self._find(url).close()
        del self._listeners[url]

    def _find(self, url: str) -> SwitchableListener:
        listener = self._listeners.get(url)
        if listener is None:
            raise ListenerError("no such listener")
        return listener
