"""Gateways that redeem for somebody whom they should refuse, or refuse them in the wrong words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.defect import Defect, defect, instead, without
from gateproof.reference.gateway.policy import redemption, token_claims, vault
from gateproof.reference.gateway.policy.redemption import REDEMPTION_CHECKS, RedemptionCheck, RedemptionFacts
from gateproof.reference.gateway.policy.token_claims import TokenFacts
from gateproof.reference.gateway.records import VaultEntry
from gateproof.reference.outcomes import Refusal


def checking(honest: RedemptionCheck, wrong: RedemptionCheck) -> dict[str, Any]:
    checks = instead(REDEMPTION_CHECKS, honest, wrong)
    return {"redemption_checks": checks, "redemption_rechecks": checks}


def forgetting(check: RedemptionCheck) -> dict[str, Any]:
    checks = without(REDEMPTION_CHECKS, check)
    return {"redemption_checks": checks, "redemption_rechecks": checks}


def refusing(check: RedemptionCheck, *, status: int) -> dict[str, Any]:
    def wrong(facts: RedemptionFacts) -> Refusal | None:
        refusal = check(facts)
        return replace(refusal, status=status, challenge=None) if refusal else None

    return checking(check, wrong)


def any_reading_scope(facts: RedemptionFacts) -> Refusal | None:
    scopes = facts.claims["scope"].split() if facts.claims is not None else []
    readable = any(scope.endswith(":read") for scope in scopes)
    return None if readable else redemption.user_token_may_redeem(facts)


def with_all_claims(facts: TokenFacts) -> dict[str, Any]:
    """The ID token is made of the access token, with another audience."""
    return {**token_claims.access_token_claims(facts), **token_claims.id_token_claims(facts)}


def kept_with_nothing_in_it(
    old: VaultEntry | None, verdict: vault.Verdict, answer: vault.MerchantAnswer, now: float
) -> VaultEntry | None:
    """What was not granted is cached like what was."""
    if verdict == "rejected":
        return vault.entry_from(vault.MerchantAnswer(status=200, document={"access_token": "null"}), now)
    return vault.entry_after_provisioning(old, verdict, answer, now)


def nothing_cached(status: int, error: str) -> Callable[[], Refusal]:
    return lambda: Refusal(status=status, error=error, description="there is no merchant token")


REFUSALS: tuple[Defect, ...] = (
    defect(
        "revocation-spares-issued-tokens",
        "A Proxy token outlives the revocation of its client.",
        "REDEEM-06 ROBUST-04",
        **forgetting(redemption.proxy_client_still_stands),
    ),
    defect(
        "token-of-a-revoked-client-is-403",
        "A Proxy token whose client was revoked is answered with 403.",
        "REDEEM-06 ROBUST-04",
        **refusing(redemption.proxy_client_still_stands, status=403),
    ),
    defect(
        "id-token-redeems",
        "The ID token has the claims of the access token and the same type.",
        "REDEEM-07 CLAIM-09",
        id_token_type=token_claims.ACCESS_TOKEN_TYPE,
        id_token_claims=with_all_claims,
    ),
    defect(
        "wrong-user-token-is-403",
        "A user token that is not good is answered with 403.",
        "REDEEM-07",
        **refusing(redemption.user_token_is_good, status=403),
    ),
    defect(
        "wrong-user-token-is-400",
        "A user token that is not good is answered with 400.",
        "REDEEM-07",
        **refusing(redemption.user_token_is_good, status=400),
    ),
    defect(
        "redemption-scope-not-asked-for",
        "Nobody asks for ext_token:read.",
        "REDEEM-08 ROBUST-04",
        **forgetting(redemption.user_token_may_redeem),
    ),
    defect(
        "any-reading-scope-redeems",
        "Any scope that ends in :read will do.",
        "REDEEM-08 ROBUST-04",
        **checking(redemption.user_token_may_redeem, any_reading_scope),
    ),
    defect(
        "missing-scope-is-403",
        "A token without ext_token:read is answered with 403.",
        "REDEEM-08",
        **refusing(redemption.user_token_may_redeem, status=403),
    ),
    defect(
        "nothing-cached-is-410",
        "Where nothing was cached at sign-in, the user is sent to sign in again.",
        "REDEEM-10 ROBUST-04",
        nothing_cached=nothing_cached(410, "reauthentication_required"),
    ),
    defect(
        "nothing-cached-is-401",
        "Where nothing was cached at sign-in, the answer is 401.",
        "REDEEM-10 ROBUST-04",
        nothing_cached=nothing_cached(401, "invalid_token"),
    ),
    defect(
        "nothing-cached-is-502",
        "Where nothing was cached at sign-in, the merchant is blamed.",
        "REDEEM-10 ROBUST-04",
        nothing_cached=nothing_cached(502, "bad_gateway"),
    ),
    defect(
        "rejection-cached-as-a-token",
        "When the merchant rejects the gateway, null is cached as its token.",
        "REDEEM-10 ROBUST-04",
        entry_after_provisioning=kept_with_nothing_in_it,
    ),
    defect(
        "redemption-may-be-stored",
        "Redemption answers do not say no-store.",
        "REDEEM-15",
        redemption_headers={},
    ),
    defect(
        "redemption-private-only",
        "Redemption answers say private, which lets a browser store them.",
        "REDEEM-15",
        redemption_headers={"cache-control": "private, max-age=60"},
    ),
    defect(
        "redemption-as-html",
        "Redemption answers are called HTML.",
        "REDEEM-15",
        redemption_headers={"cache-control": "no-store", "content-type": "text/html"},
    ),
)
