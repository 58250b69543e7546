"""The decisions about cached merchant tokens."""

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
    """Limits for the merchant's answers: time, size, and no redirects."""

    total_s: float = 4.0
    silence_s: float = 3.0
    connecting_s: float = 2.0
    most_octets: int = 256 * 1024
    follows_redirects: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class MerchantAnswer:
    """An answer of the merchant's token endpoint.

    The status is None without an answer; `trouble` is then the kind of failure. `retry_after` is the header
    Retry-After as it came; the gateway does not wait for its merchant.
    """

    status: int | None
    document: dict[str, Any] | None = field(default=None, repr=False)
    trouble: Trouble | None = None
    retry_after: str | None = None

    def text(self, name: str) -> str | None:
        value = (self.document or {}).get(name)
        return value if isinstance(value, str) and value else None


def step(entry: VaultEntry, now: float) -> Step:
    """What a redemption has to do. Without a refresh token, the cached token is used until it expires."""
    if entry.needs_reauthentication:
        return "reauthenticate"
    if entry.expires_at is None or now < near_expiry(entry):
        return "return"
    if entry.refresh_token is not None:
        return "refresh"
    return "return" if now < entry.expires_at else "reauthenticate"


def near_expiry(entry: VaultEntry) -> float:
    """When to refresh: in the last tenth of the lifetime, but at most one minute before the end."""
    if entry.expires_at is None:
        return float("inf")
    life = entry.expires_at - entry.issued_at
    return entry.expires_at - min(NEAR_AT_MOST_S, NEAR_SHARE * life)


def continues_sign_in(_verdict: Verdict) -> bool:
    """Provisioning is best effort: a failure does not stop the sign-in."""
    return True


def provisioning_verdict(answer: MerchantAnswer) -> Verdict:
    """A 4xx error of OAuth is a rejection; everything else may be temporary."""
    if answer.status == 200 and answer.text("access_token"):
        return "accepted"
    return "rejected" if answer.status in {400, 401, 403} and answer.text("error") else "transient"


def refresh_verdict(answer: MerchantAnswer) -> Verdict:
    """Only `invalid_grant` invalidates the refresh token; any other failure leaves it unchanged."""
    if answer.status == 200 and answer.text("access_token"):
        return "accepted"
    rejected = answer.status in {400, 401, 403} and answer.text("error") == "invalid_grant"
    return "rejected" if rejected else "transient"


def entry_from(answer: MerchantAnswer, now: float) -> VaultEntry:
    """A new entry from an accepted answer. Without a valid expires_in, the token does not expire."""
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
    """The new token; without a new refresh token, the old one is kept."""
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
    """A new token replaces the entry, a rejection removes it, a temporary failure keeps it."""
    if verdict == "accepted":
        return entry_from(answer, now)
    return None if verdict == "rejected" else old


def usable_after_transient(entry: VaultEntry, now: float) -> bool:
    """After a temporary failure, a token that is still valid is used."""
    return entry.expires_at is None or now < entry.expires_at


def flight_key(key: VaultKey) -> Hashable:
    """Concurrent redemptions with the same key share one refresh."""
    return key


def user_assertion(grant: Grant, agent: Agent, resource: Resource, jti: str, now: float) -> dict[str, Any]:
    """The assertion to the merchant about the user and the acting agent."""
    return {
        "iss": resource.merchant.client_id,
        "sub": grant.person.login_id,
        "aud": resource.merchant.token_endpoint,
        "act": {"client_id": agent.id, "name": agent.name},
        **_lifetime(jti, now),
    }


def client_assertion(resource: Resource, jti: str, now: float) -> dict[str, Any]:
    """The gateway's client authentication at the merchant (private_key_jwt)."""
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
