"""Gateways that treat a failure of the merchant as a rejection, or fail because of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import vault
from gateproof.reference.gateway.policy.vault import MerchantAnswer, MerchantLimits, Trouble, Verdict
from gateproof.reference.gateway.records import VaultEntry

# Longer than any caller waits.
AN_HOUR_S = 3600.0


def rejected_when(is_so: Callable[[MerchantAnswer], bool]) -> Callable[[MerchantAnswer], Verdict]:
    return lambda answer: "rejected" if is_so(answer) else vault.refresh_verdict(answer)


def rejected_by(trouble: Trouble) -> Callable[[MerchantAnswer], Verdict]:
    return rejected_when(lambda answer: answer.trouble == trouble)


def failing_when(is_so: Callable[[MerchantAnswer], bool]) -> Callable[[MerchantAnswer], Verdict]:
    """Provisioning raises an exception that is not caught."""

    def verdict(answer: MerchantAnswer) -> Verdict:
        if is_so(answer):
            raise KeyError("access_token")
        return vault.provisioning_verdict(answer)

    return verdict


def is_nonsense(answer: MerchantAnswer) -> bool:
    return answer.status == 200 and answer.document is None


def _lifetime(answer: MerchantAnswer) -> Any:
    return (answer.document or {}).get("expires_in")


def adding_up(
    old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
) -> VaultEntry | None:
    """Adds the lifetime to the time without checking its type."""
    if verdict == "accepted" and _lifetime(answer) is not None:
        now + _lifetime(answer)
    return vault.entry_after_provisioning(old, verdict, answer, now)


def kept_as_it_comes(old: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
    """Stores a lifetime that is a string as the expiry."""
    entry, lifetime = vault.refreshed_entry(old, answer, now), _lifetime(answer)
    return replace(entry, expires_at=cast("float", lifetime)) if isinstance(lifetime, str) else entry


def any_200_is_a_token(answer: MerchantAnswer) -> Verdict:
    return "accepted" if answer.status == 200 else vault.refresh_verdict(answer)


# A common timeout of HTTP clients.
PATIENT = vault.MerchantLimits(total_s=9.0, silence_s=8.0)

DEFECTS = (
    defect(
        "eight-seconds-of-silence-taken-for-a-rejection (VAULT-06 ROBUST-04): The gateway treats a merchant "
        "that does not answer within eight seconds as having rejected the refresh token.",
        merchant_limits=PATIENT,
        refresh_verdict=rejected_by("late"),
    ),
    defect(
        "eight-seconds-of-silence-end-the-sign-in (VAULT-10 ROBUST-04): The sign-in fails if the merchant "
        "does not answer within eight seconds.",
        merchant_limits=PATIENT,
        provisioning_verdict=failing_when(lambda answer: answer.trouble == "late"),
    ),
    defect(
        "server-error-taken-for-a-rejection (VAULT-06 ROBUST-04): The gateway treats a 5xx of the merchant "
        "as a rejection of the refresh token.",
        refresh_verdict=rejected_when(lambda answer: (answer.status or 0) >= 500),
    ),
    defect(
        "rate-limit-taken-for-a-rejection (VAULT-06 ROBUST-04): The gateway treats a 429 of the merchant as "
        "a rejection of the refresh token.",
        refresh_verdict=rejected_when(lambda answer: answer.status == 429),
    ),
    defect(
        "silence-taken-for-a-rejection (VAULT-06 ROBUST-04): The gateway treats a timeout of the merchant as "
        "a rejection of the refresh token.",
        refresh_verdict=rejected_by("late"),
    ),
    defect(
        "lost-connection-taken-for-a-rejection (VAULT-06 ROBUST-04): The gateway treats a connection to the "
        "merchant that fails or breaks as a rejection of the refresh token.",
        refresh_verdict=rejected_by("connection"),
    ),
    defect(
        "distrust-taken-for-a-rejection (VAULT-06 ROBUST-04): The gateway treats an invalid certificate of "
        "the merchant as a rejection of the refresh token.",
        refresh_verdict=rejected_by("tls"),
    ),
    defect(
        "expired-token-in-an-outage (VAULT-06 ROBUST-04): If a refresh fails because of an outage of the "
        "merchant, redemption returns the expired merchant token.",
        usable_after_transient=lambda _entry, _now: True,
    ),
    defect(
        "sign-in-fails-with-the-merchant (VAULT-10 ROBUST-04): The sign-in gives no code if provisioning "
        "fails because of an outage of the merchant.",
        continues_sign_in=lambda verdict: verdict != "transient",
    ),
    defect(
        "nonsense-breaks-the-sign-in (VAULT-10 ROBUST-04): The sign-in fails if the merchant answers "
        "provisioning with a 200 without JSON.",
        provisioning_verdict=failing_when(is_nonsense),
    ),
    defect(
        "lost-connection-breaks-the-sign-in (VAULT-10 ROBUST-04): The sign-in fails if the connection to the "
        "merchant breaks during provisioning.",
        provisioning_verdict=failing_when(lambda answer: answer.trouble == "connection"),
    ),
    defect(
        "distrust-breaks-the-sign-in (VAULT-10): The sign-in fails if the certificate of the merchant is "
        "invalid during provisioning.",
        provisioning_verdict=failing_when(lambda answer: answer.trouble == "tls"),
    ),
    defect(
        "lifetime-as-text-breaks-the-sign-in (VAULT-10 ROBUST-04): The sign-in fails if expires_in of the "
        "merchant is a string.",
        entry_after_provisioning=adding_up,
    ),
    defect(
        "patience-without-end (VAULT-10 ROBUST-04): The gateway waits up to an hour for the merchant's "
        "answer.",
        merchant_limits=MerchantLimits(total_s=AN_HOUR_S, silence_s=AN_HOUR_S),
    ),
    defect(
        "no-total-deadline (VAULT-10 ROBUST-04): The gateway waits up to an hour for a merchant that sends a "
        "byte now and then.",
        merchant_limits=MerchantLimits(total_s=AN_HOUR_S),
    ),
    defect(
        "lifetime-as-text-breaks-redemption (ROBUST-02): If expires_in in a refresh is a string, the gateway "
        "stores it as the expiry, and redemptions fail.",
        refreshed_entry=kept_as_it_comes,
    ),
    defect(
        "any-200-is-a-token (ROBUST-02 REDEEM-01): The gateway treats any 200 of the merchant to a refresh "
        "as a new token, whatever its body is.",
        refresh_verdict=any_200_is_a_token,
    ),
    defect(
        "redirects-followed (SECRET-07): The gateway follows a redirect of the merchant and sends the "
        "credentials of the request there.",
        merchant_limits=MerchantLimits(follows_redirects=True),
    ),
)
