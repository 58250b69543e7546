"""Ends the MCP sessions that checks opened, because a server may allow only some tens of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.wire import jose, mcp
from gateproof.conformance.wire.exchange import Exchange, Request
from gateproof.conformance.wire.keyring import Keyring
from gateproof.conformance.wire.secret import Secret

# After so many unanswered requests in a row, the server is not asked again.
_MOST_UNENDED = 3
_STEP = "end of a session"

SendOnce = Callable[[str, Request], Exchange]


class OpenSessions:
    """The open sessions, each as the request that ends it."""

    def __init__(self, world: ServiceWorld) -> None:
        self._world = world
        self._endings: list[Request] = []
        self._unended = 0

    def note(self, exchange: Exchange) -> None:
        if (ending := mcp.ending(exchange)) is not None:
            self._endings.append(ending)

    def end(self, send: SendOnce, keyring: Keyring) -> None:
        """Ends all sessions; gives up if the server does not answer."""
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
        """The request itself, then the same with a new token of its user, because the first may be expired.

        The first token is not sent if its key was removed, because the server would look for the key. If the
        token belongs to no user, the server accepted it without a check, and no other token is sent.
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
