"""The life of a cached merchant token."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeGuard, cast

from gateproof.reference.gateway.records import Agent, Grant, Resource, VaultEntry, VaultKey

Step = Literal["return", "refresh", "reauthenticate"]
Verdict = Literal["accepted", "rejected", "transient"]
Trouble = Literal["late", "connection", "tls", "size", "encoding"]
ASSERTION_LIFETIME_S = 300
NEAR_AT_MOST_S = 60
NEAR_SHARE = 0.1
LONGEST_LIFETIME_S = 10 * 366 * 86400


@dataclass(frozen=True, kw_only=True, slots=True)
class MerchantLimits:
    """How much of a merchant the gateway puts up with, in time and size, and that it follows it nowhere."""

    total_s: float = 4.0
    silence_s: float = 3.0
    connecting_s: float = 2.0
    most_octets: int = 256 * 1024
    follows_redirects: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class MerchantAnswer:
    """What the merchant's token endpoint said.

    A status of None means that no answer came, and `trouble` says in a word what came in its place.
    """

    status: int | None
    document: dict[str, Any] | None = field(default=None, repr=False)
    trouble: Trouble | None = None

    def text(self, name: str) -> str | None:
        value = (self.document or {}).get(name)
        return value if isinstance(value, str) and value else None


def step(entry: VaultEntry, now: float) -> Step:
    """What a redemption has to do first. Without a refresh token the cached one is used to its end."""
    if entry.needs_reauthentication:
        return "reauthenticate"
    if entry.expires_at is None or now < near_expiry(entry):
        return "return"
    if entry.refresh_token is not None:
        return "refresh"
    return "return" if now < entry.expires_at else "reauthenticate"


def near_expiry(entry: VaultEntry) -> float:
    """When to refresh: in the last tenth of a token's life, and at most a minute before its end."""
    if entry.expires_at is None:
        return float("inf")
    life = entry.expires_at - entry.issued_at
    return entry.expires_at - min(NEAR_AT_MOST_S, NEAR_SHARE * life)


def sign_in_goes_on(_verdict: Verdict) -> bool:
    """Provisioning is best effort: the user signs in, whatever the merchant says to the gateway."""
    return True


def provisioning_verdict(answer: MerchantAnswer) -> Verdict:
    """A definite no of any kind is a rejection; what might be better in a moment is not."""
    if answer.status == 200 and answer.text("access_token"):
        return "accepted"
    return "rejected" if answer.status in {400, 401, 403} and answer.text("error") else "transient"


def refresh_verdict(answer: MerchantAnswer) -> Verdict:
    """Only `invalid_grant` says that the refresh token is no good; all else leaves it as it was."""
    if answer.status == 200 and answer.text("access_token"):
        return "accepted"
    rejected = answer.status in {400, 401, 403} and answer.text("error") == "invalid_grant"
    return "rejected" if rejected else "transient"


def entry_from(answer: MerchantAnswer, now: float) -> VaultEntry:
    """A new entry from an accepted answer. Without a usable expires_in the token counts as long-lived."""
    document = answer.document or {}
    lifetime, scope = document.get("expires_in"), document.get("scope")
    return VaultEntry(
        access_token=answer.text("access_token") or "",
        refresh_token=answer.text("refresh_token"),
        issued_at=now,
        expires_at=now + lifetime if _is_lifetime(lifetime) else None,
        scopes=tuple(scope.split()) if isinstance(scope, str) else None,
    )


def refreshed_entry(old: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
    """The new token; a merchant that sends no new refresh token means the old one to stay in use."""
    new = entry_from(answer, now)
    return replace(
        new,
        refresh_token=new.refresh_token or old.refresh_token,
        scopes=new.scopes if new.scopes is not None else old.scopes,
    )


def rejected_entry(old: VaultEntry) -> VaultEntry:
    return replace(old, refresh_token=None, needs_reauthentication=True)


def entry_after_provisioning(
    old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
) -> VaultEntry | None:
    """A new token replaces everything, a rejection leaves nothing, a merchant in trouble changes nothing."""
    if verdict == "accepted":
        return entry_from(answer, now)
    return None if verdict == "rejected" else old


def usable_after_transient(entry: VaultEntry, now: float) -> bool:
    """While the merchant is in trouble, a token that is still valid is as good as a new one."""
    return entry.expires_at is None or now < entry.expires_at


def flight_key(key: VaultKey) -> Hashable:
    """Redemptions that share this share one refresh."""
    return key


def user_assertion(grant: Grant, agent: Agent, resource: Resource, jti: str, now: float) -> dict[str, Any]:
    """What the gateway vouches for to the merchant: this user, and this agent acting for them."""
    return {
        "iss": resource.merchant.client_id,
        "sub": grant.person.login_id,
        "aud": resource.merchant.token_endpoint,
        "act": {"client_id": agent.id, "name": agent.name},
        **_lifetime(jti, now),
    }


def client_assertion(resource: Resource, jti: str, now: float) -> dict[str, Any]:
    """Who the gateway is at the merchant (private_key_jwt)."""
    return {
        "iss": resource.merchant.client_id,
        "sub": resource.merchant.client_id,
        "aud": resource.merchant.token_endpoint,
        **_lifetime(jti, now),
    }


def _is_lifetime(value: object) -> TypeGuard[float]:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 <= cast(float, value) <= LONGEST_LIFETIME_S


def _lifetime(jti: str, now: float) -> dict[str, Any]:
    return {"jti": jti, "iat": int(now), "exp": int(now) + ASSERTION_LIFETIME_S}
