"""Tickets, which connect an authorization request with its sign-in form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gateproof.fakes.merchant.clients import Client
from gateproof.fakes.merchant.minting import Minter

LIFETIME_S = 600
LIMIT = 10_000


@dataclass(frozen=True, kw_only=True, slots=True)
class AuthorizationRequest:
    """The parameters of an authorization request."""

    client: Client
    redirect_uri: str
    scope: str | None
    state: str | None
    nonce: str | None
    challenge: str | None
    challenge_method: str
    by_form: bool


class Tickets:
    """Open sign-ins by ticket, the hidden field of their form; old ones are discarded."""

    def __init__(self, *, minter: Minter, wall: Callable[[], float]) -> None:
        self._minter = minter
        self._wall = wall
        self._open: dict[str, tuple[float, AuthorizationRequest]] = {}

    def issue(self, request: AuthorizationRequest) -> str:
        ticket = self._minter.random_text(32)
        self._open[ticket] = (self._wall() + LIFETIME_S, request)
        if len(self._open) > LIMIT:
            del self._open[next(iter(self._open))]
        return ticket

    def find(self, ticket: str) -> AuthorizationRequest | None:
        until, request = self._open.get(ticket, (0.0, None))
        return request if until > self._wall() else None

    def spend(self, ticket: str) -> None:
        self._open.pop(ticket, None)
