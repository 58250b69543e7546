"""`python gateway_without_a_step.py STEP …` serves a gateway that answers one step of the catalogue wrongly.

Everything else is the reference's. The answers to that step are 409, which no rule accepts. The step "life of
the process" ends the process at the first redemption.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qs

from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.command import main as serve_gateway
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policies import Policies
from gateproof.reference.gateway.records import Grant, Resource, VaultKey

WRONG = json.dumps({"error": "conflict", "error_description": "not now"}).encode()
# The cached merchant token that the request of this task is about.
_REDEEMED: ContextVar[VaultKey | None] = ContextVar("redeemed", default=None)


@dataclass
class Past:
    """What happened before a request, as far as a step depends on it."""

    held: set[tuple[str, str]] = field(default_factory=set)
    merchant_tokens: dict[VaultKey, str] = field(default_factory=dict)
    ended: set[VaultKey] = field(default_factory=set)


@dataclass(frozen=True)
class Request:
    """A request with the reference's answer, and what happened before."""

    asked: Asked
    answered: Answered
    gateway: Gateway
    past: Past
    key: VaultKey | None

    def is_at(self, ending: str, *statuses: int) -> bool:
        return self.asked.path.endswith(ending) and self.answered.status in statuses

    def form(self, name: str, octets: bytes | None = None) -> str:
        text = (self.asked.body if octets is None else octets).decode("latin-1")
        return parse_qs(text).get(name, [""])[0]

    def is_for_a_proxy_token(self, *statuses: int) -> bool:
        return self.is_at("/oauth2/token", *statuses) and self.form("grant_type") == "client_credentials"

    def is_redemption(self, *statuses: int) -> bool:
        return self.is_at("/api/credentials/token", *statuses)

    def is_authorization(self) -> bool:
        return self.is_at("/oauth2/auth", 200, 302, 303) and "error=" not in self.answered.header("location")

    def was_held(self) -> bool:
        agent = self.form("client_id", self.asked.query.encode("latin-1"))
        return any(agent in key for key in self.past.held if self.gateway.store.standings[key] == "approved")

    def proxy_client_is_revoked(self) -> bool:
        policies, store = self.gateway.policies, self.gateway.store
        token = policies.proxy_token_behind(store, self.asked.headers.get("x-proxy-token", ""))
        return token is not None and store.proxy_clients[token.client_id].revoked

    def has_another_merchant_token(self, *, after_410: bool) -> bool:
        if self.key is None or (self.key in self.past.ended) is not after_410:
            return False
        before = self.past.merchant_tokens.get(self.key)
        return after_410 or before not in (None, self.gateway.store.vault[self.key].access_token)

    def was_rejected(self) -> bool:
        entry = self.gateway.store.vault.get(self.key) if self.key else None
        return entry is not None and entry.needs_reauthentication


def _refused_proxy_client(request: Request) -> str:
    if not request.is_for_a_proxy_token(401):
        return ""
    client = request.gateway.store.proxy_clients.get(request.form("client_id"))
    if client is None:
        return "unknown"
    return "revoked" if client.revoked else "wrong secret"


IS: Mapping[str, Callable[[Request], bool]] = {
    "discovery": lambda request: request.is_at("/.well-known/openid-configuration", 200),
    "core key set": lambda request: request.asked.path == "/jwks",
    "registration": lambda request: request.is_at("/api/register", 201),
    "authorization": lambda request: request.is_authorization() and not request.was_held(),
    "authorization after an approval": lambda request: request.is_authorization() and request.was_held(),
    "code exchange": lambda request: (
        request.is_at("/oauth2/token", 200) and request.form("grant_type") == "authorization_code"
    ),
    "Proxy token request": lambda request: request.is_for_a_proxy_token(200),
    "Proxy token request with a wrong secret": lambda request: (
        _refused_proxy_client(request) == "wrong secret"
    ),
    "Proxy token request of an unknown client": lambda request: _refused_proxy_client(request) == "unknown",
    "Proxy token request of a revoked client": lambda request: _refused_proxy_client(request) == "revoked",
    "redemption": lambda request: request.is_redemption(200),
    "redemption with a revoked Proxy client": lambda request: (
        request.is_redemption(401) and request.proxy_client_is_revoked()
    ),
    "redemption after a refresh": lambda request: (
        request.is_redemption(200) and request.has_another_merchant_token(after_410=False)
    ),
    "redemption without a refresh token": lambda request: (
        request.is_redemption(410) and not request.was_rejected()
    ),
    "redemption after a rejected refresh": lambda request: (
        request.is_redemption(410) and request.was_rejected()
    ),
    "redemption after a new sign-in": lambda request: (
        request.is_redemption(200) and request.has_another_merchant_token(after_410=True)
    ),
    "life of the process": lambda request: request.is_redemption(200) and os._exit(70),
}


def without(step: str) -> Policies:
    honest, past = Policies(), Past()

    def vault_key(grant: Grant, resource: Resource) -> VaultKey:
        key = honest.vault_key(grant, resource)
        _REDEEMED.set(key)
        return key

    def change(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
        key = _REDEEMED.get()
        request = Request(asked, answered, gateway, past, key)
        is_step = IS[step](request)
        past.held |= {at for at, standing in gateway.store.standings.items() if standing == "pending"}
        if key is not None and request.is_redemption(410):
            past.ended.add(key)
        elif key is not None and request.is_redemption(200):
            past.merchant_tokens.setdefault(key, gateway.store.vault[key].access_token)
        _REDEEMED.set(None)
        if not is_step:
            return answered
        headers = (("content-type", "application/json"), ("cache-control", "no-store"))
        return replace(answered, status=409, headers=headers, body=WRONG)

    return replace(honest, vault_key=vault_key, around=altering_answers(change))


def main(argv: Sequence[str]) -> int:
    step, *rest = argv
    return serve_gateway(rest, without(step))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
