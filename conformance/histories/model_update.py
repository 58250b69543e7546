"""Updates the model's vault from the merchant's answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from gateproof.conformance.histories.observation import TROUBLE, MerchantCall, Seen
from gateproof.conformance.histories.state import About, State, key_of
from gateproof.conformance.histories.steps import Manner
from gateproof.conformance.histories.vault import Entries, Entry, Vault, after

UNREFRESHABLE: frozenset[Manner] = frozenset({"gives no refresh token"})


def overheard(state: State, seen: Seen, about: About | None = None, *, certain: bool = False) -> State:
    """The state after the merchant calls of a step.

    A call for the step's user belongs to the step's agent. Any other call may concern all entries of its
    user. If a sign-in gave no code, provisioning may have taken effect or not.
    """
    for heard in seen.heard:
        own = about is not None and (about.project, about.user) == (heard.project, heard.user)
        change = partial(
            _changed,
            heard=heard,
            life_s=state.facts.life_s,
            refreshable=state.manner(heard.project, heard.user) not in UNREFRESHABLE,
            sure=own and (certain or heard.grant == "refresh"),
        )
        vaults = (_everywhere(vault, heard, about if own else None, change) for vault in state.vaults)
        troubled = state.troubled or heard.result in TROUBLE
        state = replace(state, vaults=tuple(vaults), troubled=troubled)
    return state


def _everywhere(
    vault: Vault, heard: MerchantCall, about: About | None, change: Callable[[Entry], Entries]
) -> Vault:
    keys = [key_of(vault, about)] if about is not None else vault.keys_of(heard.project, heard.user)
    for key in keys:
        vault = vault.change(key, change)
    return vault


def _changed(entry: Entry, *, heard: MerchantCall, life_s: float, refreshable: bool, sure: bool) -> Entries:
    then = after(entry, heard, life_s, refreshable=refreshable)
    return then if sure else then | {entry}
