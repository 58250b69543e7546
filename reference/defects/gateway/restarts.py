"""Gateways that lose a part of their data when the process is killed and started again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.keys import KeyRing, new_key
from gateproof.reference.gateway.records import Code, ProxyToken
from gateproof.reference.gateway.store import Expiring, Store
from gateproof.reference.ids import Ids

PROXY_TOKEN_KEPT_S = 7200
Left = Callable[[Store, Ids], Store]


def _with(**tables: Callable[[Store], Any]) -> Left:
    """The tables of before, with these as they are after a restart."""

    def left(store: Store, _ids: Ids) -> Store:
        return replace(store, **{name: made(store) for name, made in tables.items()})

    return left


def keys_of_this_process(store: Store, ids: Ids) -> Store:
    """The signing key is made when the process starts, and stands in no table."""
    return replace(store, core_keys=KeyRing(current=new_key(ids)))


def unspent(store: Store) -> Expiring[Code]:
    """That a code was used stands in a set of the process."""
    for key in store.codes:
        code = store.codes.get(key)
        if code is not None:
            store.codes.change(key, replace(code, spent=False))
    return store.codes


def _no_proxy_tokens(_store: Store) -> Expiring[ProxyToken]:
    return Expiring(keep_s=PROXY_TOKEN_KEPT_S)


DEFECTS = (
    defect(
        "core-key-made-at-each-start (KEYS-01 REDEEM-01): The core signing key is made at each start.",
        left_after_a_restart=keys_of_this_process,
    ),
    defect(
        "used-codes-forgotten-at-a-restart (CODE-02): Which codes were used is not stored.",
        left_after_a_restart=_with(codes=unspent),
    ),
    defect(
        "revocations-forgotten-at-a-restart (PROXY-04 REDEEM-06): Revoked Proxy clients are good again after "
        "a restart.",
        left_after_a_restart=_with(
            proxy_clients=lambda store: {
                client_id: replace(client, revoked=False) for client_id, client in store.proxy_clients.items()
            }
        ),
    ),
    defect(
        "proxy-tokens-in-memory (PROXY-06): Proxy tokens are forgotten at a restart.",
        left_after_a_restart=_with(proxy_tokens=_no_proxy_tokens),
    ),
    defect(
        "agents-in-memory (ROBUST-04): Registered agents are forgotten at a restart.",
        left_after_a_restart=_with(agents=lambda _: {}),
    ),
    defect(
        "subjects-in-memory (CLAIM-03): A user gets another sub after a restart.",
        left_after_a_restart=_with(subjects=lambda _: {}),
    ),
    defect(
        "vault-in-memory (REDEEM-01): Merchant tokens are forgotten at a restart.",
        left_after_a_restart=_with(vault=lambda _: {}),
    ),
    defect(
        "merchant-refresh-tokens-in-memory (VAULT-01): The refresh tokens of merchants are forgotten at a "
        "restart.",
        left_after_a_restart=_with(
            vault=lambda store: {
                key: replace(entry, refresh_token=None) for key, entry in store.vault.items()
            }
        ),
    ),
    defect(
        "agent-policies-in-memory (AUTHZ-07): Projects hold no agents after a restart.",
        left_after_a_restart=_with(
            projects=lambda store: {
                project_id: replace(project, agent_policy="approve")
                for project_id, project in store.projects.items()
            },
            standings=lambda store: {
                key: standing for key, standing in store.standings.items() if standing == "approved"
            },
        ),
    ),
    defect(
        "approvals-in-memory (AUTHZ-08): An approved agent is Pending again after a restart.",
        left_after_a_restart=_with(standings=lambda _: {}),
    ),
)
