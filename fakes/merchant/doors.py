"""A door is one more address of the merchant, for one Resource, that can be slammed without harming others.

What a connection meets before HTTP begins, a script cannot tell: it does not know yet who is asking.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.types import ASGIApp

from fakes.serving import Listener, listen

# What a door shows by itself: the merchant as it is, nobody at all, or HTTP where TLS is expected.
OPEN, SHUT, PLAIN = "open", "shut", "plain"
# So many turns of the loop a connection takes from being dropped to being closed.
TURNS = 5


class DoorError(ValueError):
    """There is no such door, or it cannot show that."""


@dataclass(slots=True)
class Door:
    """One port, whoever stands behind it, and how many connections it took while it showed a face."""

    listener: Listener | None
    port: int
    visits: int = 0


class Doors:
    """Opens ports beside the merchant's own, behind which it answers as it does everywhere."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        token_endpoint: str,
        host: str,
        tls: ssl.SSLContext | None,
        faces: Mapping[str, ssl.SSLContext],
    ) -> None:
        self._app = app
        self._endpoint = urlsplit(token_endpoint)
        self._host = host
        self._faces: dict[str, ssl.SSLContext | None] = {OPEN: tls, **faces}
        if tls is not None:
            self._faces[PLAIN] = None
        self._doors: dict[str, Door] = {}

    async def open(self) -> str:
        """A new door; gives the token endpoint behind it, which is its name from then on."""
        door = Door(listener=None, port=0)
        await self._listen(door, OPEN)
        shown = f"[{self._host}]" if ":" in self._host else self._host
        url = self._endpoint._replace(netloc=f"{shown}:{door.port}").geturl()
        self._doors[url] = door
        return url

    async def show(self, url: str, face: str) -> int:
        """Drop every connection and show another face; says how many came to see the one before."""
        door = self._door(url)
        if face != SHUT and face not in self._faces:
            raise DoorError(f"no face {face!r}; there are {', '.join(sorted({SHUT, *self._faces}))}")
        if door.listener is not None:
            door.listener.close()
            door.listener = None
            # Whoever asks next is not to find one of the dropped connections that only seems to be there.
            for _ in range(TURNS):
                await asyncio.sleep(0)
        seen, door.visits = door.visits, 0
        if face != SHUT:
            await self._listen(door, face)
        return seen

    def close(self, url: str) -> None:
        """Take a door away."""
        door = self._door(url)
        if door.listener is not None:
            door.listener.close()
        del self._doors[url]

    async def _listen(self, door: Door, face: str) -> None:
        def came() -> None:
            door.visits += 1

        door.listener = await listen(
            lambda _netloc: self._app, host=self._host, port=door.port, tls=self._faces[face], came=came
        )
        door.port = int(door.listener.netloc.rpartition(":")[2])

    def _door(self, url: str) -> Door:
        door = self._doors.get(url)
        if door is None:
            raise DoorError("no such door")
        return door
