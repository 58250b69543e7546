"""Gateways that lose a part of their data when the process is killed and started again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.keys import KeyRing, new_key
from gateproof.reference.gateway.policy import vault
from gateproof.reference.gateway.policy.vault import MerchantAnswer
from gateproof.reference.gateway.records import Code, ProxyToken, VaultEntry
from gateproof.reference.gateway.store import Expiring, Store
from gateproof.reference.ids import Ids

PROXY_TOKEN_KEPT_S = 7200
Left = Callable[[Store, Ids], Store]


def _with(**tables: Callable[[Store], Any]) -> Left:
    """Keeps all tables across a restart, except these."""

    def left(store: Store, _ids: Ids) -> Store:
        return replace(store, **{name: made(store) for name, made in tables.items()})

    return left


def keys_of_this_process(store: Store, ids: Ids) -> Store:
    """Creates the signing key when the process starts and does not store it."""
    return replace(store, core_keys=KeyRing(current=new_key(ids)))


def unspent(store: Store) -> Expiring[Code]:
    """Used codes are kept only in memory, so all codes are unused after a restart."""
    for key in store.codes:
        code = store.codes.get(key)
        if code is not None:
            store.codes.change(key, replace(code, spent=False))
    return store.codes


@dataclass(frozen=True, kw_only=True, slots=True)
class Refreshed(VaultEntry):
    """An entry that also has the refresh token of the sign-in."""

    first: str | None = field(repr=False)


def refreshed_in_memory(entry: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
    first = entry.first if isinstance(entry, Refreshed) else entry.refresh_token
    fresh = vault.refreshed_entry(entry, answer, now)
    values = {each.name: getattr(fresh, each.name) for each in fields(VaultEntry)}
    return Refreshed(**values, first=first)


def of_the_sign_in(entry: VaultEntry) -> VaultEntry:
    return replace(entry, refresh_token=entry.first) if isinstance(entry, Refreshed) else entry


def _no_proxy_tokens(_store: Store) -> Expiring[ProxyToken]:
    return Expiring(keep_s=PROXY_TOKEN_KEPT_S)


DEFECTS = (
    defect(
        "core-key-made-at-each-start (REDEEM-01 KEYS-04): The gateway creates a new core signing key at "
        "each start.",
        left_after_a_restart=keys_of_this_process,
    ),
    defect(
        "retired-core-keys-in-memory (KEYS-04): The gateway stores only the current core key, so retired "
        "keys are lost at a restart.",
        left_after_a_restart=_with(core_keys=lambda store: replace(store.core_keys, retired=())),
    ),
    defect(
        "projects-in-memory (ROBUST-02 AUTHZ-08): The gateway loses Projects and Resources at a restart.",
        left_after_a_restart=_with(projects=lambda _: {}, resources=lambda _: {}),
    ),
    defect(
        "used-codes-forgotten-at-a-restart (CODE-02): The gateway does not store which codes were used, so "
        "they work again after a restart.",
        left_after_a_restart=_with(codes=unspent),
    ),
    defect(
        "revocations-forgotten-at-a-restart (PROXY-04 REDEEM-06): Revoked Proxy clients are valid again "
        "after a restart.",
        left_after_a_restart=_with(
            proxy_clients=lambda store: {
                client_id: replace(client, revoked=False) for client_id, client in store.proxy_clients.items()
            }
        ),
    ),
    defect(
        "proxy-tokens-in-memory (PROXY-06): The gateway loses Proxy tokens at a restart.",
        left_after_a_restart=_with(proxy_tokens=_no_proxy_tokens),
    ),
    defect(
        "agents-in-memory (ROBUST-04): The gateway loses registered agents at a restart.",
        left_after_a_restart=_with(agents=lambda _: {}),
    ),
    defect(
        "subjects-in-memory (CLAIM-03): A user gets another sub after a restart.",
        left_after_a_restart=_with(subjects=lambda _: {}),
    ),
    defect(
        "vault-in-memory (REDEEM-01): The gateway loses merchant tokens at a restart.",
        left_after_a_restart=_with(vault=lambda _: {}),
    ),
    defect(
        "merchant-refresh-tokens-in-memory (VAULT-01): The gateway loses merchant refresh tokens at a "
        "restart.",
        left_after_a_restart=_with(
            vault=lambda store: {
                key: replace(entry, refresh_token=None) for key, entry in store.vault.items()
            }
        ),
    ),
    defect(
        "merchant-refresh-tokens-of-the-sign-in (VAULT-01): The gateway does not store refresh tokens from "
        "a refresh; after a restart it has that of the sign-in.",
        refreshed_entry=refreshed_in_memory,
        left_after_a_restart=_with(
            vault=lambda store: {k: of_the_sign_in(v) for k, v in store.vault.items()}
        ),
    ),
    defect(
        "agent-policies-in-memory (AUTHZ-07): After a restart, all Projects approve new agents, whatever "
        "their agent policy was.",
        left_after_a_restart=_with(
            projects=lambda store: {
                project_id: replace(project, agent_policy="approve")
                for project_id, project in store.projects.items()
            }
        ),
    ),
    defect(
        "pending-agents-let-in-by-a-restart (AUTHZ-07): Pending agents are approved after a restart.",
        left_after_a_restart=_with(standings=lambda store: dict.fromkeys(store.standings, "approved")),
    ),
    defect(
        "approvals-in-memory (AUTHZ-08): An approved agent is Pending again after a restart.",
        left_after_a_restart=_with(standings=lambda _: {}),
    ),
)
