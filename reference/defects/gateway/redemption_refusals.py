"""Gateways that redeem for somebody whom they should refuse, or refuse them in the wrong words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.defect import instead, without
from gateproof.reference.defects.gateway.row import defect
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


DEFECTS = (
    defect(
        "revocation-spares-issued-tokens (REDEEM-06 ROBUST-04): A Proxy token outlives the revocation of "
        "its client.",
        **forgetting(redemption.proxy_client_still_stands),
    ),
    defect(
        "token-of-a-revoked-client-is-403 (REDEEM-06 ROBUST-04): A Proxy token whose client was revoked is "
        "answered with 403.",
        **refusing(redemption.proxy_client_still_stands, status=403),
    ),
    defect(
        "id-token-redeems (REDEEM-07 CLAIM-09): The ID token has the claims of the access token and the "
        "same type.",
        id_token_type=token_claims.ACCESS_TOKEN_TYPE,
        id_token_claims=with_all_claims,
    ),
    defect(
        "wrong-user-token-is-403 (REDEEM-07): A user token that is not good is answered with 403.",
        **refusing(redemption.user_token_is_good, status=403),
    ),
    defect(
        "wrong-user-token-is-400 (REDEEM-07): A user token that is not good is answered with 400.",
        **refusing(redemption.user_token_is_good, status=400),
    ),
    defect(
        "redemption-scope-not-asked-for (REDEEM-08 ROBUST-04): Nobody asks for ext_token:read.",
        **forgetting(redemption.user_token_may_redeem),
    ),
    defect(
        "any-reading-scope-redeems (REDEEM-08 ROBUST-04): Any scope that ends in :read will do.",
        **checking(redemption.user_token_may_redeem, any_reading_scope),
    ),
    defect(
        "missing-scope-is-403 (REDEEM-08): A token without ext_token:read is answered with 403.",
        **refusing(redemption.user_token_may_redeem, status=403),
    ),
    defect(
        "nothing-cached-is-410 (REDEEM-10 ROBUST-04): Where nothing was cached at sign-in, the user is sent "
        "to sign in again.",
        nothing_cached=nothing_cached(410, "reauthentication_required"),
    ),
    defect(
        "nothing-cached-is-401 (REDEEM-10 ROBUST-04): Where nothing was cached at sign-in, the answer is "
        "401.",
        nothing_cached=nothing_cached(401, "invalid_token"),
    ),
    defect(
        "nothing-cached-is-502 (REDEEM-10 ROBUST-04): Where nothing was cached at sign-in, the merchant is "
        "blamed.",
        nothing_cached=nothing_cached(502, "bad_gateway"),
    ),
    defect(
        "rejection-cached-as-a-token (REDEEM-10 ROBUST-04): When the merchant rejects the gateway, null is "
        "cached as its token.",
        entry_after_provisioning=kept_with_nothing_in_it,
    ),
    defect(
        "redemption-may-be-stored (REDEEM-15): Redemption answers do not say no-store.",
        redemption_headers={},
    ),
    defect(
        "redemption-private-only (REDEEM-15): Redemption answers say private, which lets a browser store "
        "them.",
        redemption_headers={"cache-control": "private, max-age=60"},
    ),
    defect(
        "redemption-as-html (REDEEM-15): Redemption answers are called HTML.",
        redemption_headers={"cache-control": "no-store", "content-type": "text/html"},
    ),
)
