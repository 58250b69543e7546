"""A legal choice that some defects build on: a Proxy client gets its current token again."""

from __future__ import annotations

from gateproof.reference.gateway.keys import KeyRing
from gateproof.reference.gateway.policy import proxy, redemption
from gateproof.reference.gateway.records import ProxyToken
from gateproof.reference.gateway.store import Store
from gateproof.reference.ids import Ids
from gateproof.reference.outcomes import JsonObject

MINUTE_S = 60


class ReissuedToken:
    """Returns the current token of a Proxy client with its remaining time, until a minute before expiry."""

    def __init__(self) -> None:
        self._newest: dict[str, tuple[str, float]] = {}
        self._left: dict[str, float] = {}

    def token(self, record: ProxyToken, keys: KeyRing, ids: Ids) -> str:
        token, until = self._newest.get(record.client_id, ("", 0.0))
        now = record.expires_at - proxy.PROXY_TOKEN_LIFETIME_S
        if until < now + MINUTE_S:
            token, until = proxy.new_proxy_token(record, keys, ids), record.expires_at
        self._newest[record.client_id] = token, until
        self._left[token] = until - now
        return token

    def keep(self, store: Store, token: str, record: ProxyToken, now: float) -> None:
        if redemption.proxy_token_behind(store, token) is None:
            proxy.keep_proxy_token(store, token, record, now)

    def answer(self, token: str, _lifetime_s: int) -> JsonObject:
        return proxy.proxy_token_answer(token, int(self._left[token]))
