"""Gateways whose vault is keyed by too little, or that say wrongly how long a merchant token lives."""

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
    """A key of these parts alone."""
    return lambda grant, resource: replace(
        EVERYBODY, **{name: part(grant, resource) for name, part in parts.items()}
    )


def by_indicator(grant: Grant, resource: Resource) -> VaultKey:
    return replace(EVERYBODY, resource_id=resource.indicator, login_id=grant.person.login_id)


def by_login_as(kept: Callable[[str], str]) -> Callable[[Grant, Resource], VaultKey]:
    """A key with what was kept of the login, and no subject beside it."""
    return keyed(
        project_id=lambda grant, _: grant.project_id,
        resource_id=lambda _, resource: resource.id,
        login_id=lambda grant, _: kept(grant.person.login_id),
    )


def by_indicator_as(form: Callable[[str], str]) -> Callable[[Grant, Resource], VaultKey]:
    """What of the indicator is a part of the key, beside Project and user."""
    return lambda grant, resource: replace(vault_key(grant, resource), resource_id=form(resource.indicator))


def by_agent(grant: Grant, resource: Resource) -> VaultKey:
    return replace(vault_key(grant, resource), sub=grant.agent_id, login_id="")


def own_for_any_sibling(facts: RedemptionFacts) -> Resource | None:
    """Every indicator of the Project is accepted, and the token's own Resource is redeemed."""
    own = next((each for each in facts.resources if facts.grant and each.id == facts.grant.resource_id), None)
    known = any(
        each.indicator == facts.indicator and each.project_id == facts.project_id for each in facts.resources
    )
    return own if known else redemption.redeemed_resource(facts)


def shared_refreshes() -> Callable[[VaultEntry, vault.MerchantAnswer, float], VaultEntry]:
    """Refreshes that end within a second of each other are taken for one."""
    last: list[tuple[float, VaultEntry]] = []

    def refreshed(old: VaultEntry, answer: vault.MerchantAnswer, now: float) -> VaultEntry:
        if last and abs(now - last[-1][0]) < 1:
            return last[-1][1]
        entry = vault.refreshed_entry(old, answer, now)
        last.append((now, entry))
        return entry

    return refreshed


def dated(at: Callable[[VaultEntry], float]) -> Callable[[VaultEntry], JsonObject]:
    def answer(entry: VaultEntry) -> JsonObject:
        said: dict[str, Any] = redemption_answer(entry)
        return said | {"expires_at": redemption.rfc3339(at(entry))}

    return answer


DEFECTS = (
    defect(
        "vault-keyed-without-user (REDEEM-12 REDEEM-01 REDEEM-10 VAULT-09 ROBUST-04): The vault is keyed by "
        "Project and Resource: the last user to sign in owns it.",
        vault_key=keyed(
            project_id=lambda grant, _: grant.project_id, resource_id=lambda _, resource: resource.id
        ),
    ),
    defect(
        "vault-keyed-by-agent (REDEEM-12 ROBUST-04): The vault is keyed by agent instead of user.",
        vault_key=by_agent,
    ),
    defect(
        "vault-keyed-without-resource (REDEEM-12 AUTHZ-22 ROBUST-04): The vault is keyed by Project and "
        "user: of two Resources the last one counts.",
        vault_key=keyed(project_id=lambda grant, _: grant.project_id, sub=lambda grant, _: grant.sub),
    ),
    defect(
        "vault-keyed-by-login (REDEEM-12 AUTHZ-22 REDEEM-10 REDEEM-16 VAULT-01 VAULT-02 VAULT-03 VAULT-05 "
        "ROBUST-04): The vault is keyed by login, across all Projects.",
        vault_key=keyed(login_id=lambda grant, _: grant.person.login_id),
    ),
    defect(
        "vault-keyed-by-the-indicator-in-small-letters (REDEEM-12): The vault is keyed by user and "
        "indicator, and its column takes letters of both cases for one.",
        vault_key=by_indicator_as(str.lower),
    ),
    defect(
        "vault-keyed-by-the-indicator-without-its-slash (REDEEM-12): The vault is keyed by user and "
        "indicator, of which a slash at the end is taken away.",
        vault_key=by_indicator_as(lambda indicator: indicator.rstrip("/")),
    ),
    defect(
        "vault-keyed-by-a-cut-indicator (REDEEM-12): The vault is keyed by user and indicator, and the "
        "column for it ends after 255 characters.",
        vault_key=by_indicator_as(lambda indicator: indicator[:255]),
    ),
    defect(
        "vault-keyed-by-the-path (REDEEM-12): The vault is keyed by user and the path of the indicator, "
        "without what it asks for.",
        vault_key=by_indicator_as(lambda indicator: indicator.partition("?")[0]),
    ),
    defect(
        "vault-keyed-by-the-local-part (REDEEM-12): The vault is keyed by what stands before the @ of a "
        "login.",
        vault_key=by_login_as(lambda login: login.partition("@")[0]),
    ),
    defect(
        "vault-keyed-by-a-cut-login (REDEEM-12): The vault is keyed by login, and the column for it ends "
        "after 64 characters.",
        vault_key=by_login_as(lambda login: login[:64]),
    ),
    defect(
        "vault-keyed-by-indicator-and-login (REDEEM-12 ROBUST-04): The vault is keyed by indicator and "
        "login: two Projects with one indicator share an entry.",
        vault_key=by_indicator,
    ),
    defect(
        "sibling-redeems-the-tokens-own (REDEEM-12 REDEEM-09): For another Resource of its Project a token "
        "redeems its own.",
        redeemed_resource=own_for_any_sibling,
    ),
    defect(
        "refreshes-taken-together (REDEEM-12 VAULT-07): Two refreshes at one moment are taken for one, "
        "whoever they are for.",
        refreshed_entry=shared_refreshes(),
    ),
    defect(
        "expires-at-is-an-hour-from-issue (REDEEM-16): Every merchant token is said to live for an hour.",
        redemption_answer=dated(lambda entry: entry.issued_at + 3600),
    ),
    defect(
        "expires-at-is-the-issue (REDEEM-16): expires_at is when the merchant token was issued.",
        redemption_answer=dated(lambda entry: entry.issued_at),
    ),
    defect(
        "expires-at-in-the-wrong-zone (REDEEM-16): expires_at is local time called UTC, two hours off.",
        redemption_answer=dated(lambda entry: (entry.expires_at or 0) + 7200),
    ),
    defect(
        "expires-at-within-a-day (REDEEM-16): expires_at is never more than a day ahead.",
        redemption_answer=dated(lambda entry: min(entry.expires_at or 0, entry.issued_at + 86_400)),
    ),
    defect(
        "expires-at-stays-after-a-refresh (REDEEM-16 VAULT-05): A refreshed merchant token keeps the expiry "
        "of the one before.",
        refreshed_entry=lambda old, answer, now: replace(
            vault.refreshed_entry(old, answer, now), expires_at=old.expires_at
        ),
    ),
)
