"""The sessions that checks began with an MCP server, which has room for some tens of them at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.run.service_world import USERS, ServiceWorld
from conformance.wire import jose, mcp
from conformance.wire.exchange import Exchange, Request
from conformance.wire.keyring import Keyring
from conformance.wire.secret import Secret

# A connection may have been lost meanwhile; so many in a row were not.
_MOST_UNENDED = 3
_STEP = "end of a session"

SendOnce = Callable[[str, Request], Exchange]


class OpenSessions:
    """What was begun and not ended so far, each as the request that ends it."""

    def __init__(self, world: ServiceWorld) -> None:
        self._world = world
        self._endings: list[Request] = []
        self._unended = 0

    def note(self, exchange: Exchange) -> None:
        if (ending := mcp.ending(exchange)) is not None:
            self._endings.append(ending)

    def end(self, send: SendOnce, keyring: Keyring) -> None:
        """Tells the server that they are over; who never answers that is not told for long."""
        endings = self._endings.copy()
        self._endings.clear()
        for ending in endings:
            if self._unended < _MOST_UNENDED:
                ended = self._ended(ending, send, keyring)
                self._unended = self._unended + 1 if ended.answer is None else 0

    def _ended(self, ending: Request, send: SendOnce, keyring: Keyring) -> Exchange:
        """The answer to this, or to the same with a good token where the session's own is good no more."""
        token = jose.read(next((value for _, value in ending.headers), "").rpartition(" ")[2])
        # A key that is gone would be looked for.
        if token is not None and token.header.get("kid") in {
            key.kid for key in self._world.gateway.core_keys
        }:
            answer = send(_STEP, ending)
            if answer.status != 401:
                return answer
        subject = token.claims.get("sub") if token is not None else None
        changes = {"sub": subject} if isinstance(subject, str) else {}
        good = self._world.gateway.access_token(USERS[0], **changes)
        keyring.add(Secret("access_token", good))
        rest = [pair for pair in ending.headers if pair[0].lower() != "authorization"]
        bearer = ("Authorization", f"Bearer {good}")
        return send(_STEP, replace(ending, headers=(bearer, *rest)))
