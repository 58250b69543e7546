"""The sessions that checks began with an MCP server, which has room for some tens of them at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.wire import jose, mcp
from gateproof.conformance.wire.exchange import Exchange, Request
from gateproof.conformance.wire.keyring import Keyring
from gateproof.conformance.wire.secret import Secret

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
            for request in self._ways(ending, keyring):
                if self._unended == _MOST_UNENDED:
                    return
                answer = send(_STEP, request)
                self._unended = self._unended + 1 if answer.answer is None else 0
                if answer.status != 401:
                    break

    def _ways(self, ending: Request, keyring: Keyring) -> Iterator[Request]:
        """The request itself, and the same with another token of its user, whose first may be good no more.

        Under a key that is gone nothing is sent: it would be looked for. Whose token never was a user's began
        its session with a server that asks nobody, and is not told of a better one.
        """
        gateway = self._world.gateway
        own = next((value for _, value in ending.headers), "").rpartition(" ")[2]
        token, user = jose.read(own), gateway.user_of(own)
        if token is not None and token.header.get("kid") in {key.kid for key in gateway.core_keys}:
            yield ending
        if token is not None and user is not None:
            subject = token.claims.get("sub")
            good = gateway.access_token(user, **({"sub": subject} if isinstance(subject, str) else {}))
            keyring.add(Secret("access_token", good))
            rest = [pair for pair in ending.headers if pair[0].lower() != "authorization"]
            yield replace(ending, headers=(("Authorization", f"Bearer {good}"), *rest))
