"""Gateways that take a merchant in trouble for one that has decided, or let it break what is not its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import vault
from gateproof.reference.gateway.policy.vault import MerchantAnswer, MerchantLimits, Trouble, Verdict
from gateproof.reference.gateway.records import VaultEntry

# Longer than anybody waits who asks this gateway.
AN_HOUR_S = 3600.0


def rejected_when(is_so: Callable[[MerchantAnswer], bool]) -> Callable[[MerchantAnswer], Verdict]:
    return lambda answer: "rejected" if is_so(answer) else vault.refresh_verdict(answer)


def rejected_by(trouble: Trouble) -> Callable[[MerchantAnswer], Verdict]:
    return rejected_when(lambda answer: answer.trouble == trouble)


def stumbling_when(is_so: Callable[[MerchantAnswer], bool]) -> Callable[[MerchantAnswer], Verdict]:
    """Provisioning raises what nobody catches."""

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
    """A lifetime is added to the time as it comes."""
    if verdict == "accepted" and _lifetime(answer) is not None:
        now + _lifetime(answer)
    return vault.entry_after_provisioning(old, verdict, answer, now)


def kept_as_it_comes(old: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
    """A lifetime that is a string is stored in place of an expiry."""
    entry, lifetime = vault.refreshed_entry(old, answer, now), _lifetime(answer)
    return replace(entry, expires_at=cast("float", lifetime)) if isinstance(lifetime, str) else entry


def any_200_is_a_token(answer: MerchantAnswer) -> Verdict:
    return "accepted" if answer.status == 200 else vault.refresh_verdict(answer)


# The time-out of many HTTP clients.
PATIENT = vault.MerchantLimits(total_s=9.0, silence_s=8.0)

DEFECTS = (
    defect(
        "eight-seconds-of-silence-taken-for-a-rejection (VAULT-06 ROBUST-04): A merchant that does not "
        "answer within eight seconds counts as having rejected the refresh token.",
        merchant_limits=PATIENT,
        refresh_verdict=rejected_by("late"),
    ),
    defect(
        "eight-seconds-of-silence-end-the-sign-in (VAULT-10 ROBUST-04): A merchant that does not answer "
        "within eight seconds ends the sign-in.",
        merchant_limits=PATIENT,
        provisioning_verdict=stumbling_when(lambda answer: answer.trouble == "late"),
    ),
    defect(
        "server-error-taken-for-a-rejection (VAULT-06 ROBUST-04): A 5xx of the merchant counts as a "
        "rejected refresh token.",
        refresh_verdict=rejected_when(lambda answer: (answer.status or 0) >= 500),
    ),
    defect(
        "rate-limit-taken-for-a-rejection (VAULT-06 ROBUST-04): A 429 of the merchant counts as a rejected "
        "refresh token.",
        refresh_verdict=rejected_when(lambda answer: answer.status == 429),
    ),
    defect(
        "silence-taken-for-a-rejection (VAULT-06 ROBUST-04): A merchant that does not answer in time counts "
        "as having rejected the refresh token.",
        refresh_verdict=rejected_by("late"),
    ),
    defect(
        "lost-connection-taken-for-a-rejection (VAULT-06 ROBUST-04): A connection that fails or breaks "
        "counts as a rejected refresh token.",
        refresh_verdict=rejected_by("connection"),
    ),
    defect(
        "distrust-taken-for-a-rejection (VAULT-06 ROBUST-04): A certificate of the merchant that cannot be "
        "believed counts as a rejected refresh token.",
        refresh_verdict=rejected_by("tls"),
    ),
    defect(
        "expired-token-in-an-outage (VAULT-06 ROBUST-04): While the merchant is in trouble, the expired "
        "merchant token is handed out.",
        usable_after_transient=lambda _entry, _now: True,
    ),
    defect(
        "sign-in-fails-with-the-merchant (VAULT-10 ROBUST-04): No code is issued when provisioning met "
        "trouble.",
        sign_in_goes_on=lambda verdict: verdict != "transient",
    ),
    defect(
        "nonsense-breaks-the-sign-in (VAULT-10 ROBUST-04): A 200 of the merchant without JSON in it ends "
        "the sign-in.",
        provisioning_verdict=stumbling_when(is_nonsense),
    ),
    defect(
        "lost-connection-breaks-the-sign-in (VAULT-10 ROBUST-04): A connection that breaks during "
        "provisioning ends the sign-in.",
        provisioning_verdict=stumbling_when(lambda answer: answer.trouble == "connection"),
    ),
    defect(
        "distrust-breaks-the-sign-in (VAULT-10): A certificate of the merchant that cannot be believed ends "
        "the sign-in during provisioning.",
        provisioning_verdict=stumbling_when(lambda answer: answer.trouble == "tls"),
    ),
    defect(
        "lifetime-as-text-breaks-the-sign-in (VAULT-10 ROBUST-04): A lifetime that is a string ends the "
        "sign-in.",
        entry_after_provisioning=adding_up,
    ),
    defect(
        "patience-without-end (VAULT-10 ROBUST-04): The merchant may take an hour to answer.",
        merchant_limits=MerchantLimits(total_s=AN_HOUR_S, silence_s=AN_HOUR_S),
    ),
    defect(
        "no-total-deadline (VAULT-10 ROBUST-04): A merchant that sends a little now and then may take an "
        "hour.",
        merchant_limits=MerchantLimits(total_s=AN_HOUR_S),
    ),
    defect(
        "lifetime-as-text-breaks-redemption (ROBUST-02): A lifetime that is a string is stored where an "
        "expiry belongs, and no redemption gets past it.",
        refreshed_entry=kept_as_it_comes,
    ),
    defect(
        "any-200-is-a-token (ROBUST-02 REDEEM-01): A 200 of the merchant replaces the token, whatever is in "
        "it.",
        refresh_verdict=any_200_is_a_token,
    ),
    defect(
        "redirects-followed (SECRET-07): A redirect of the merchant is followed with everything that was "
        "sent to it.",
        merchant_limits=MerchantLimits(follows_redirects=True),
    ),
)
