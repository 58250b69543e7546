"""Translates the merchant's journal into calls for the model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from gateproof.conformance.histories.observation import MerchantCall, MerchantToken, Result
from gateproof.conformance.kit.gateway.merchant_recovery import SIGN_IN_GRANT
from gateproof.conformance.suite.parties import Resource, User
from gateproof.fakes.merchant.admin import MerchantAdmin
from gateproof.fakes.merchant.records import JournalEntry

REFRESH = "refresh_token"
_PROVISIONS = (
    "urn:ietf:params:oauth:grant-type:jwt-bearer",
    "urn:ietf:params:oauth:grant-type:token-exchange",
)
_LOST = frozenset({"rotate_then_500", "rotate_then_reset", "accept_then_hang"})
_RESETS = frozenset({"reset", "rotate_then_reset"})
# The gateway may accept a token a moment longer than the merchant.
_ROUNDED_S = 2.0


@dataclass(kw_only=True, slots=True)
class JournalReader:
    """Reads the merchant's journal for the Resources and users of one history.

    `federated`: the gateway gets merchant tokens with the sign-in grant, and sends no separate grant.
    """

    merchant: MerchantAdmin
    users: Sequence[User]
    life_s: float
    federated: bool = False
    _resources: list[str] = field(default_factory=list)
    _heard: set[int] = field(default_factory=set)
    _from: dict[str, int] = field(default_factory=dict)
    _moves: list[tuple[float, float]] = field(default_factory=list)

    def attend(self, resource: Resource) -> None:
        """Registers the Resource of the next Project; earlier journal entries are ignored."""
        client_id = resource.merchant_client_id or ""
        self._resources.append(client_id)
        self._from[client_id] = self.merchant.last_received()

    def moved(self, offset_s: float) -> None:
        """Records how far the gateway's clock is ahead of the wall clock from now on."""
        self._moves.append((time.time(), offset_s))

    def listen(self) -> tuple[MerchantCall, ...]:
        """The calls since the last time."""
        found = []
        for project, client_id in enumerate(self._resources):
            for entry in self.merchant.journal(client_id, after=self._from[client_id]):
                if entry.ordinal in self._heard or not _is_over(entry):
                    continue
                self._heard.add(entry.ordinal)
                heard = self._meaning(entry, project)
                if heard is not None:
                    found.append(heard)
        return tuple(found)

    def _meaning(self, entry: JournalEntry, project: int) -> MerchantCall | None:
        user = next((place for place, user in enumerate(self.users) if user.login == entry.login), None)
        provisions = (SIGN_IN_GRANT,) if self.federated else _PROVISIONS
        if user is None or entry.grant not in {REFRESH, *provisions}:
            return None
        return MerchantCall(
            grant="refresh" if entry.grant == REFRESH else "provisioning",
            result=_result(entry),
            project=project,
            user=user,
            at=entry.time + self._offset(entry.time),
        )

    def about(self, token: str, user: User, resource: Resource) -> MerchantToken:
        """What the merchant knows about a token that was redeemed for this user at this Resource."""
        known = self.merchant.lookup(token)
        if known is None or known.kind != "access_token":
            return MerchantToken(owned=False, until=float("inf"))
        until = known.expires_at if known.expires_at is not None else float("inf")
        return MerchantToken(
            owned=known.login == user.login and known.client_id == resource.merchant_client_id,
            until=until + self._offset(until - self.life_s) + _ROUNDED_S,
        )

    def _offset(self, wall: float) -> float:
        """The offset of the gateway's clock at a moment of the wall clock."""
        return next((offset for since, offset in reversed(self._moves) if since <= wall), 0.0)


def _is_over(entry: JournalEntry) -> bool:
    return entry.status is not None or entry.outcome in _RESETS


def _result(entry: JournalEntry) -> Result:
    if entry.status == 200:
        return "accepted"
    if entry.outcome in _LOST:
        return "lost"
    if entry.outcome == "reject":
        return "rejected"
    return "reused" if (entry.error or "").startswith("invalid_grant") else "failed"
