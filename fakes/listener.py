"""A listener of a test double that can be closed, or reopened with a wrong certificate.

This is for faults before HTTP begins. A script cannot cause them: at that time the caller is not known yet.
"""

from __future__ import annotations

import asyncio
import ssl

from starlette.types import ASGIApp

from gateproof.fakes.serving import Listener, listen

# How many iterations of the event loop pass between dropping a connection and its close.
TURNS = 5


class SwitchableListener:
    """One port in front of an application; counts the connections since it was last opened or shut."""

    def __init__(self, app: ASGIApp, *, host: str, port: int = 0) -> None:
        self.host = host
        self.port = port
        self.connections = 0
        self._app = app
        self._listener: Listener | None = None

    @property
    def netloc(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def another_port(self) -> SwitchableListener:
        """A second listener in front of the same application, not open yet."""
        return SwitchableListener(self._app, host=self.host)

    async def open(self, tls: ssl.SSLContext | None) -> int:
        """Drops every connection and listens with this context; returns the number of connections before."""
        counted = await self.shut()

        def connected() -> None:
            self.connections += 1

        self._listener = await listen(
            lambda _netloc: self._app, host=self.host, port=self.port, tls=tls, connected=connected
        )
        self.port = int(self._listener.netloc.rpartition(":")[2])
        return counted

    async def shut(self) -> int:
        """Drops every connection and stops listening; returns the number of connections before."""
        if self._listener is not None:
            self.close()
            # The next client must not reuse a dropped connection that is not closed yet.
            for _ in range(TURNS):
                await asyncio.sleep(0)
        counted, self.connections = self.connections, 0
        return counted

    def close(self) -> None:
        """Like `shut`, without waiting; to be called on the event loop that opened it."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
