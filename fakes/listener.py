"""A door is one port of a test double that can be slammed, or opened by somebody who is an impostor.

What a connection meets before HTTP begins, a script cannot tell: it does not know yet who is asking.
"""

from __future__ import annotations

import asyncio
import ssl

from starlette.types import ASGIApp

from gateproof.fakes.serving import Listener, listen

# So many turns of the loop a connection takes from being dropped to being closed.
TURNS = 5


class Door:
    """One port, whoever stands behind it, and how many connections came since it was last opened or shut."""

    def __init__(self, app: ASGIApp, *, host: str, port: int = 0) -> None:
        self.host = host
        self.port = port
        self.visits = 0
        self._app = app
        self._listener: Listener | None = None

    @property
    def netloc(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def beside(self) -> Door:
        """Another door to the same, on a port of its own."""
        return Door(self._app, host=self.host)

    async def open(self, tls: ssl.SSLContext | None) -> int:
        """Drop every connection and open with this; says how many came before."""
        seen = await self.shut()

        def came() -> None:
            self.visits += 1

        self._listener = await listen(
            lambda _netloc: self._app, host=self.host, port=self.port, tls=tls, came=came
        )
        self.port = int(self._listener.netloc.rpartition(":")[2])
        return seen

    async def shut(self) -> int:
        """Drop every connection and listen no longer; says how many came before."""
        if self._listener is not None:
            self.close()
            # Whoever asks next is not to find one of the dropped connections that only seems to be there.
            for _ in range(TURNS):
                await asyncio.sleep(0)
        seen, self.visits = self.visits, 0
        return seen

    def close(self) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None
