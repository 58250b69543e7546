"""Gateways that complete a sign-in with the merchant's code of another sign-in.

Neither PKCE nor a nonce connects the code with the sign-in; `state` is the only protection.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import sign_in
from gateproof.reference.gateway.store import Store


def latest_unless(states_decide: Callable[[Store, tuple[str, ...]], bool]) -> dict[str, Any]:
    """Takes the last sign-in that the browser began, unless the `state` values are to be compared."""

    def key(store: Store, states: tuple[str, ...], browser: str | None) -> str:
        begun = [each for each in store.sign_ins if _is_begun_by(store, each, browser)]
        if states_decide(store, states) or not begun:
            return sign_in.by_state(store, states, browser)
        return begun[-1]

    return {"sign_in_key": key, "merchant_code_bindings": frozenset()}


def _is_begun_by(store: Store, key: str, browser: str | None) -> bool:
    begun = store.sign_ins.get(key)
    return begun is not None and begun.person is None and begun.browser == browser


DEFECTS = (
    defect(
        "callback-without-state (AUTHZ-19): A callback without `state` completes the sign-in that the "
        "browser has begun, with any code.",
        **latest_unless(lambda _store, states: states != ()),
    ),
    defect(
        "callback-with-empty-state (AUTHZ-19): A callback with an empty `state` completes the sign-in that "
        "the browser has begun, with any code.",
        **latest_unless(lambda _store, states: states != ("",)),
    ),
    defect(
        "callback-with-any-state (AUTHZ-19): A callback with an unknown `state` completes the sign-in that "
        "the browser has begun, with any code.",
        **latest_unless(lambda store, states: sign_in.by_state(store, states, None) in store.sign_ins),
    ),
)
