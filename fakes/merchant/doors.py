"""Doors are more addresses of the merchant, one a Resource, that can be slammed without harming others."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.types import ASGIApp

from gateproof.fakes.listener import Door

# What a door shows by itself: the merchant as it is, nobody at all, or HTTP where TLS is expected.
OPEN, SHUT, PLAIN = "open", "shut", "plain"


class DoorError(ValueError):
    """There is no such door, or it cannot show that."""


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
        door = Door(self._app, host=self._host)
        await door.open(self._faces[OPEN])
        url = self._endpoint._replace(netloc=door.netloc).geturl()
        self._doors[url] = door
        return url

    async def show(self, url: str, face: str) -> int:
        """Drop every connection and show another face; says how many came to see the one before."""
        door = self._door(url)
        if face != SHUT and face not in self._faces:
            raise DoorError(f"no face {face!r}; there are {', '.join(sorted({SHUT, *self._faces}))}")
        return await (door.shut() if face == SHUT else door.open(self._faces[face]))

    def visits(self, url: str) -> int:
        """How many came to see what the door shows."""
        return self._door(url).visits

    def close(self, url: str) -> None:
        """Take a door away."""
        self._door(url).close()
        del self._doors[url]

    def _door(self, url: str) -> Door:
        door = self._doors.get(url)
        if door is None:
            raise DoorError("no such door")
        return door
