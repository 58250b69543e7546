"""Gateways that log a credential of a request that failed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked
from gateproof.reference.deviations.leaks import REDEMPTION, logging, members_of
from gateproof.reference.gateway.policy import vault
from gateproof.reference.gateway.policy.vault import MerchantAnswer
from gateproof.reference.gateway.records import VaultEntry


def of_redemptions(header: str, is_so: Callable[[Answered], bool]) -> Callable[[Asked, Answered], str]:
    """Logs a header of the request if `is_so` is true for the answer."""
    return lambda asked, answered: f"{answered.status}: {asked.headers.get(header, '')}" * is_so(answered)


def saying(error: str) -> Callable[[Answered], bool]:
    return lambda answered: answered.status >= 400 and members_of(answered).get("error") == error


def refreshed_tokens_logged() -> dict[str, Any]:
    """Redemption logs the merchant's answer to a refresh that it waited for."""
    came: list[str] = []

    def entry(old: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
        came.append(f"refreshed: {answer.document}")
        return vault.refreshed_entry(old, answer, now)

    def line(_asked: Asked, _answered: Answered) -> str:
        return came.pop() if came else ""

    return {"refreshed_entry": entry, "around": logging(line, REDEMPTION)}


DEFECTS = (
    defect(
        "refreshed-merchant-token-in-the-log (SECRET-08): The gateway logs the merchant's answer to a "
        "refresh.",
        **refreshed_tokens_logged(),
    ),
    defect(
        "bearer-of-a-crash-in-the-log (SECRET-05): If redemption answers 5xx, the gateway logs the "
        "Authorization header.",
        around=logging(of_redemptions("authorization", lambda answered: answered.status >= 500), REDEMPTION),
    ),
    defect(
        "bearer-of-a-410-in-the-log (SECRET-05): If redemption answers 410, the gateway logs the "
        "Authorization header.",
        around=logging(of_redemptions("authorization", lambda answered: answered.status == 410), REDEMPTION),
    ),
    defect(
        "bearer-beside-a-wrong-proxy-token-in-the-log (SECRET-05): If redemption refuses the Proxy token, "
        "the gateway logs the Authorization header.",
        around=logging(of_redemptions("authorization", saying("invalid_proxy_token")), REDEMPTION),
    ),
    defect(
        "bearer-without-the-scope-in-the-log (SECRET-05): If the access token lacks the scope for "
        "redemption, the gateway logs the Authorization header.",
        around=logging(of_redemptions("authorization", saying("insufficient_scope")), REDEMPTION),
    ),
    defect(
        "proxy-token-of-a-410-in-the-log (SECRET-08): If redemption answers 410, the gateway logs the Proxy "
        "token.",
        around=logging(of_redemptions("x-proxy-token", lambda answered: answered.status == 410), REDEMPTION),
    ),
)
