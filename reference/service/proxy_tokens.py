"""The Proxy token: requested when needed, cached in memory, renewed before it expires."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from gateproof.reference.service.gateway import Gateway
from gateproof.reference.service.policies import Policies
from gateproof.reference.service.policy.proxy import ProxyToken
from gateproof.reference.service.settings import Settings
from gateproof.reference.service.upstream import Unavailable, Upstream
from gateproof.reference.service.wire import Failure


@dataclass(kw_only=True, slots=True)
class _Slot:
    lock: Any
    token: ProxyToken | None = None
    forced_at: float = float("-inf")


class ProxyTokens:
    """Returns the Proxy token, and a new one if the gateway has refused it."""

    def __init__(
        self,
        settings: Settings,
        gateway: Gateway,
        upstream: Upstream,
        now: Callable[[], float],
        policies: Policies,
    ) -> None:
        self._settings = settings
        self._gateway = gateway
        self._upstream = upstream
        self._now = now
        self._policies = policies
        self._slots: dict[Hashable, _Slot] = {}

    async def current(self, place: Hashable) -> str:
        """The Proxy token in this slot, or a new one if it is due for renewal."""
        slot = self._slot(place)
        async with slot.lock:
            if slot.token is None or self._policies.proxy_token_is_due(slot.token, self._now()):
                slot.token = await self._new()
            return slot.token.value

    async def another_than(self, refused: str, place: Hashable) -> str | None:
        """Another Proxy token than the refused one; None if it is too early to request one."""
        slot = self._slot(place)
        async with slot.lock:
            now = self._now()
            if slot.token is not None and slot.token.value != refused:
                return slot.token.value
            if not self._policies.may_force(now - slot.forced_at):
                return None
            slot.forced_at = now
            slot.token = await self._new()
            return slot.token.value

    def _slot(self, place: Hashable) -> _Slot:
        return self._slots.setdefault(place, _Slot(lock=self._policies.one_at_a_time()))

    async def _new(self) -> ProxyToken:
        gateway, now = await self._gateway.known(self._policies.keys_for_s), self._now()
        asked = self._policies.proxy_token_request(self._settings, gateway.token_endpoint)
        answer = await self._upstream.ask(asked)
        token = self._policies.proxy_token_kept(answer.document, now) if answer.status == 200 else None
        if token is None:
            raise Unavailable(Failure(asked=asked, answer=answer))
        return token
