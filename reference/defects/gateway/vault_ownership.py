"""Gateways whose vault has an incomplete key, or that return a wrong expires_at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import redemption, vault
from gateproof.reference.gateway.policy.redemption import RedemptionFacts, redemption_answer, vault_key
from gateproof.reference.gateway.records import Grant, Resource, VaultEntry, VaultKey
from gateproof.reference.outcomes import JsonObject

EVERYBODY = VaultKey(project_id="", sub="", resource_id="", login_id="")


def keyed(**parts: Callable[[Grant, Resource], str]) -> Callable[[Grant, Resource], VaultKey]:
    """A key of only these parts."""
    return lambda grant, resource: replace(
        EVERYBODY, **{name: part(grant, resource) for name, part in parts.items()}
    )


def by_indicator(grant: Grant, resource: Resource) -> VaultKey:
    return replace(EVERYBODY, resource_id=resource.indicator, login_id=grant.person.login_id)


def keyed_by_login_form(kept: Callable[[str], str]) -> Callable[[Grant, Resource], VaultKey]:
    """A key with a part or form of the login, without the subject."""
    return keyed(
        project_id=lambda grant, _: grant.project_id,
        resource_id=lambda _, resource: resource.id,
        login_id=lambda grant, _: kept(grant.person.login_id),
    )


def by_indicator_as(form: Callable[[str], str]) -> Callable[[Grant, Resource], VaultKey]:
    """A key with a part or form of the indicator, in addition to Project and user."""
    return lambda grant, resource: replace(vault_key(grant, resource), resource_id=form(resource.indicator))


def by_agent(grant: Grant, resource: Resource) -> VaultKey:
    return replace(vault_key(grant, resource), sub=grant.agent_id, login_id="")


def own_for_any_sibling(facts: RedemptionFacts) -> Resource | None:
    """Accepts every indicator of the Project, and redeems the access token's own Resource."""
    own = next((each for each in facts.resources if facts.grant and each.id == facts.grant.resource_id), None)
    known = any(
        each.indicator == facts.indicator and each.project_id == facts.project_id for each in facts.resources
    )
    return own if known else redemption.redeemed_resource(facts)


def shared_refreshes() -> Callable[[VaultEntry, vault.MerchantAnswer, float], VaultEntry]:
    """Stores the same entry for refreshes that end within one second of each other."""
    last: list[tuple[float, VaultEntry]] = []

    def refreshed(old: VaultEntry, answer: vault.MerchantAnswer, now: float) -> VaultEntry:
        if last and abs(now - last[-1][0]) < 1:
            return last[-1][1]
        entry = vault.refreshed_entry(old, answer, now)
        last.append((now, entry))
        return entry

    return refreshed


def on_a_twelve_hour_clock(entry: VaultEntry) -> float:
    """13:05 is written as 01:05, and 00:05 as 12:05."""
    expires_at = entry.expires_at or 0
    hour = int(expires_at // 3600) % 24
    return expires_at + ((hour - 1) % 12 + 1 - hour) * 3600


def dated(at: Callable[[VaultEntry], float]) -> Callable[[VaultEntry], JsonObject]:
    def answer(entry: VaultEntry) -> JsonObject:
        said: dict[str, Any] = redemption_answer(entry)
        return said | {"expires_at": redemption.rfc3339(at(entry))}

    return answer


DEFECTS = (
    defect(
        "vault-keyed-without-user (REDEEM-12 REDEEM-01 REDEEM-10 VAULT-09 ROBUST-04): The vault is keyed by "
        "Project and Resource, so all users get the merchant token of the last sign-in.",
        vault_key=keyed(
            project_id=lambda grant, _: grant.project_id, resource_id=lambda _, resource: resource.id
        ),
    ),
    defect(
        "vault-keyed-by-agent (REDEEM-12 ROBUST-04): The vault is keyed by the agent instead of the user.",
        vault_key=by_agent,
    ),
    defect(
        "vault-keyed-without-resource (REDEEM-12 AUTHZ-22 ROBUST-04): The vault is keyed by Project and "
        "user, so all Resources of a Project share one entry.",
        vault_key=keyed(project_id=lambda grant, _: grant.project_id, sub=lambda grant, _: grant.sub),
    ),
    defect(
        "vault-keyed-by-login (REDEEM-12 AUTHZ-22 REDEEM-10 REDEEM-16 VAULT-01 VAULT-02 VAULT-03 VAULT-05 "
        "ROBUST-04): The vault is keyed by the login only, across all Projects and Resources.",
        vault_key=keyed(login_id=lambda grant, _: grant.person.login_id),
    ),
    defect(
        "vault-keyed-by-the-indicator-in-small-letters (REDEEM-12): The vault is keyed by user and Resource "
        "indicator, and compares the indicator case-insensitively.",
        vault_key=by_indicator_as(str.lower),
    ),
    defect(
        "vault-keyed-by-the-indicator-without-its-slash (REDEEM-12): The vault is keyed by user and "
        "Resource indicator, without a trailing slash of the indicator.",
        vault_key=by_indicator_as(lambda indicator: indicator.rstrip("/")),
    ),
    defect(
        "vault-keyed-by-a-cut-indicator (REDEEM-12): The vault is keyed by user and the first 255 "
        "characters of the Resource indicator.",
        vault_key=by_indicator_as(lambda indicator: indicator[:255]),
    ),
    defect(
        "vault-keyed-by-the-path (REDEEM-12): The vault is keyed by user and Resource indicator, without "
        "the indicator's query.",
        vault_key=by_indicator_as(lambda indicator: indicator.partition("?")[0]),
    ),
    defect(
        "vault-keyed-by-the-local-part (REDEEM-12): The vault is keyed by the part of the login before the "
        "@.",
        vault_key=keyed_by_login_form(lambda login: login.partition("@")[0]),
    ),
    defect(
        "vault-keyed-by-a-cut-login (REDEEM-12): The vault is keyed by the first 64 characters of the login.",
        vault_key=keyed_by_login_form(lambda login: login[:64]),
    ),
    defect(
        "vault-keyed-by-indicator-and-login (REDEEM-12 ROBUST-04): The vault is keyed by Resource indicator "
        "and login, so Projects with the same indicator share an entry.",
        vault_key=by_indicator,
    ),
    defect(
        "sibling-redeems-the-tokens-own (REDEEM-12 REDEEM-09): A redemption with the indicator of another "
        "Resource of the Project returns the merchant token of the access token's own Resource.",
        redeemed_resource=own_for_any_sibling,
    ),
    defect(
        "refreshes-taken-together (REDEEM-12 VAULT-07): Refreshes that end within one second all store the "
        "same merchant token, even for different users.",
        refreshed_entry=shared_refreshes(),
    ),
    defect(
        "expires-at-is-an-hour-from-issue (REDEEM-16): expires_at is always one hour after the merchant "
        "token was issued.",
        redemption_answer=dated(lambda entry: entry.issued_at + 3600),
    ),
    defect(
        "expires-at-is-the-issue (REDEEM-16): expires_at is the time at which the merchant token was issued.",
        redemption_answer=dated(lambda entry: entry.issued_at),
    ),
    defect(
        "expires-at-in-the-wrong-zone (REDEEM-16): expires_at is two hours too late, because it is a local "
        "time marked as UTC.",
        redemption_answer=dated(lambda entry: (entry.expires_at or 0) + 7200),
    ),
    defect(
        "expires-at-within-a-day (REDEEM-16): expires_at is never more than one day after the merchant "
        "token was issued.",
        redemption_answer=dated(lambda entry: min(entry.expires_at or 0, entry.issued_at + 86_400)),
    ),
    defect(
        "expires-at-within-twelve-hours (REDEEM-16): expires_at is never more than twelve hours after the "
        "merchant token was issued.",
        redemption_answer=dated(lambda entry: min(entry.expires_at or 0, entry.issued_at + 43_200)),
    ),
    defect(
        "expires-at-on-a-twelve-hour-clock (REDEEM-16): The hour in expires_at is written as 01 to 12.",
        redemption_answer=dated(on_a_twelve_hour_clock),
    ),
    defect(
        "expires-at-stays-after-a-refresh (REDEEM-16 VAULT-05): A refreshed merchant token keeps the expiry "
        "of the old one.",
        refreshed_entry=lambda old, answer, now: replace(
            vault.refreshed_entry(old, answer, now), expires_at=old.expires_at
        ),
    ),
)
