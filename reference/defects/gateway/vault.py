"""Gateways that cache, refresh or request merchant tokens wrongly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.defect import without_members
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import redemption, vault
from gateproof.reference.gateway.policy.vault import MerchantAnswer, Step, Verdict
from gateproof.reference.gateway.records import Agent, Grant, Resource, VaultEntry
from gateproof.reference.outcomes import Refusal


def used_to_its_end(entry: VaultEntry, now: float) -> Step:  # noqa: ARG001 - that is the mistake
    """Ignores the expiry."""
    return "reauthenticate" if entry.needs_reauthentication else "return"


def stale_without_refresh_token(entry: VaultEntry, now: float) -> Step:
    honest = vault.step(entry, now)
    return "return" if honest == "reauthenticate" and not entry.needs_reauthentication else honest


def always_refreshed(entry: VaultEntry, now: float) -> Step:
    honest = vault.step(entry, now)
    return "refresh" if honest == "return" and entry.refresh_token is not None else honest


def refreshed_after(seconds: float) -> Callable[[VaultEntry, float], Step]:
    def step(entry: VaultEntry, now: float) -> Step:
        old = now > entry.issued_at + seconds and entry.refresh_token is not None
        return "refresh" if old and not entry.needs_reauthentication else vault.step(entry, now)

    return step


def never_refreshed(entry: VaultEntry, now: float) -> Step:
    return vault.step(replace(entry, refresh_token=None), now)


def without_a_new_refresh_token(old: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
    return replace(vault.refreshed_entry(old, answer, now), refresh_token=answer.text("refresh_token"))


def with_the_first_refresh_token(old: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
    return replace(vault.refreshed_entry(old, answer, now), refresh_token=old.refresh_token)


def with_the_old_access_token(old: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
    return replace(vault.refreshed_entry(old, answer, now), access_token=old.access_token)


def back_in_use(entry: VaultEntry) -> VaultEntry:
    """Marks the rejection, but also deletes the expiry, so the entry seems valid."""
    return replace(vault.rejected_entry(entry), expires_at=None)


def forgetful(entry: VaultEntry, now: float) -> Step:
    return vault.step(replace(entry, needs_reauthentication=False), now)


def rejection_is_trouble(answer: MerchantAnswer) -> Verdict:
    verdict = vault.refresh_verdict(answer)
    return "transient" if verdict == "rejected" else verdict


def kept_while_there_is_one(
    old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
) -> VaultEntry | None:
    return old or vault.entry_after_provisioning(old, verdict, answer, now)


def still_marked(
    old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
) -> VaultEntry | None:
    new = vault.entry_after_provisioning(old, verdict, answer, now)
    marked = old is not None and old.needs_reauthentication
    return replace(new, needs_reauthentication=True) if new is not None and marked else new


def gone(**said: Any) -> Callable[[], Refusal]:
    return lambda: replace(redemption.reauthentication_required(), **said)


def asserting(change: Callable[[Grant, Agent], dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    def claims(grant: Grant, agent: Agent, resource: Resource, jti: str, now: float) -> dict[str, Any]:
        return vault.user_assertion(grant, agent, resource, jti, now) | change(grant, agent)

    return claims


def nobody_acting(grant: Grant, agent: Agent, resource: Resource, jti: str, now: float) -> dict[str, Any]:
    return without_members(vault.user_assertion(grant, agent, resource, jti, now), "act")


def first_user_for_all() -> Callable[[Grant, Agent], dict[str, Any]]:
    """Every assertion for an agent names the first user of this agent."""
    first: dict[str, str] = {}
    return lambda grant, _: {"sub": first.setdefault(grant.agent_id, grant.person.login_id)}


RULES_WITHOUT_MERCHANT_TOKENS = "REDEEM-01 AUTHZ-10 ROBUST-04 ROBUST-02"

DEFECTS = (
    defect(
        "expiry-not-looked-at (VAULT-01 ROBUST-04): The gateway returns a merchant token without checking "
        "its expiry.",
        step=used_to_its_end,
    ),
    defect(
        "never-refreshed (VAULT-01 VAULT-07 ROBUST-04): The gateway stores merchant refresh tokens but "
        "never uses them.",
        step=never_refreshed,
    ),
    defect(
        "refreshed-once (VAULT-01 ROBUST-04): If a refresh brings no new refresh token, the gateway deletes "
        "the one it has.",
        refreshed_entry=without_a_new_refresh_token,
    ),
    defect(
        "rotated-refresh-token-not-kept (VAULT-01 VAULT-07 ROBUST-04): The gateway does not store a new "
        "merchant refresh token from a refresh.",
        refreshed_entry=with_the_first_refresh_token,
    ),
    defect(
        "refreshed-token-not-handed-out (VAULT-01 VAULT-06 VAULT-07 ROBUST-04): After a refresh, the "
        "gateway still returns the old merchant token.",
        refreshed_entry=with_the_old_access_token,
    ),
    defect(
        "expired-token-without-refresh-token (VAULT-02 ROBUST-04): The gateway returns an expired merchant "
        "token if it has no refresh token.",
        step=stale_without_refresh_token,
    ),
    defect(
        "reauthentication-is-401 (VAULT-02 VAULT-03 VAULT-06 ROBUST-04): The gateway answers 401 instead of "
        "410 if the user has to authorize again.",
        reauthentication_required=gone(status=401),
    ),
    defect(
        "reauthentication-without-its-code (VAULT-02 VAULT-03): The 410 does not have the error code "
        "reauthentication_required.",
        reauthentication_required=gone(error="gone"),
    ),
    defect(
        "rejected-refresh-taken-for-trouble (VAULT-03 VAULT-06 ROBUST-04): The gateway treats a rejection "
        "of the refresh token as a temporary failure.",
        refresh_verdict=rejection_is_trouble,
    ),
    defect(
        "expired-token-after-a-rejection (VAULT-03 ROBUST-04): If the merchant rejects the refresh token, "
        "the gateway returns the expired merchant token.",
        rejected_entry=lambda entry: entry,
    ),
    defect(
        "rejection-forgotten (VAULT-03 ROBUST-04): The first redemption after a rejected refresh gets 410; "
        "the next one gets the expired merchant token.",
        rejected_entry=back_in_use,
        step=forgetful,
    ),
    defect(
        "410-for-good (VAULT-04 ROBUST-04): After a 410, redemptions still get 410 when the user has "
        "authorized again.",
        entry_after_provisioning=still_marked,
    ),
    defect(
        "first-merchant-token-kept (VAULT-04 ROBUST-04): A new sign-in does not replace a cached merchant "
        "token, even if that token is no longer valid.",
        entry_after_provisioning=kept_while_there_is_one,
    ),
    defect(
        "refreshed-every-time (VAULT-05): Every redemption refreshes the merchant token.",
        step=always_refreshed,
    ),
    defect(
        "refreshed-after-ten-minutes (VAULT-05): The gateway refreshes a merchant token ten minutes after "
        "it was issued, even if it is valid longer.",
        step=refreshed_after(600),
    ),
    defect(
        f"assertions-under-the-core-key (VAULT-08 {RULES_WITHOUT_MERCHANT_TOKENS}): "
        f"The gateway signs its assertions to the merchant with the core key.",
        assertion_key=lambda core, _: core.current,
    ),
    defect(
        "acting-agent-left-out (VAULT-09): The assertion to the merchant does not name the acting agent.",
        user_assertion=nobody_acting,
    ),
    defect(
        "acting-agent-by-name (VAULT-09): The assertion to the merchant contains only the display name of "
        "the acting agent.",
        user_assertion=asserting(lambda _, agent: {"act": {"sub": agent.name}}),
    ),
    defect(
        "gateway-as-the-acting-agent (VAULT-09): The assertion to the merchant names the gateway as the "
        "acting agent.",
        user_assertion=asserting(lambda _, __: {"act": {"sub": "https://gateway.example"}}),
    ),
    defect(
        "first-user-asserted-for-all (REDEEM-12 VAULT-09 ROBUST-04): The assertion to the merchant always "
        "names the first user who signed in through the agent.",
        user_assertion=asserting(first_user_for_all()),
    ),
    defect(
        "wrong-user-asserted (VAULT-09 REDEEM-01 REDEEM-12 VAULT-01 VAULT-04 ROBUST-04): The assertion to "
        "the merchant always names the same user.",
        user_assertion=asserting(lambda _, __: {"sub": "bob@merchant.example"}),
    ),
)
