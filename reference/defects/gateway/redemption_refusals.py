"""Gateways that accept a redemption that they have to refuse, or refuse it with a wrong answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.defect import without
from gateproof.reference.defects.gateway.proxy_clients import redemption_check_replaced
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import redemption, token_claims, vault
from gateproof.reference.gateway.policy.redemption import REDEMPTION_CHECKS, RedemptionCheck, RedemptionFacts
from gateproof.reference.gateway.policy.token_claims import TokenFacts
from gateproof.reference.gateway.records import VaultEntry
from gateproof.reference.outcomes import Refusal


def forgetting(check: RedemptionCheck) -> dict[str, Any]:
    checks = without(REDEMPTION_CHECKS, check)
    return {"redemption_checks": checks, "redemption_rechecks": checks}


def refusing(check: RedemptionCheck, *, status: int) -> dict[str, Any]:
    def wrong(facts: RedemptionFacts) -> Refusal | None:
        refusal = check(facts)
        return replace(refusal, status=status, challenge=None) if refusal else None

    return redemption_check_replaced(check, wrong)


def any_reading_scope(facts: RedemptionFacts) -> Refusal | None:
    scopes = facts.claims["scope"].split() if facts.claims is not None else []
    readable = any(scope.endswith(":read") for scope in scopes)
    return None if readable else redemption.user_token_may_redeem(facts)


def with_all_claims(facts: TokenFacts) -> dict[str, Any]:
    """The claims of the access token, overwritten by those of the ID token."""
    return {**token_claims.access_token_claims(facts), **token_claims.id_token_claims(facts)}


def kept_with_nothing_in_it(
    old: VaultEntry | None, verdict: vault.Verdict, answer: vault.MerchantAnswer, now: float
) -> VaultEntry | None:
    """Caches a rejection as a merchant token with the text null."""
    if verdict == "rejected":
        return vault.entry_from(vault.MerchantAnswer(status=200, document={"access_token": "null"}), now)
    return vault.entry_after_provisioning(old, verdict, answer, now)


def nothing_cached(status: int, error: str) -> Callable[[], Refusal]:
    return lambda: Refusal(status=status, error=error, description="there is no merchant token")


DEFECTS = (
    defect(
        "revocation-spares-issued-tokens (REDEEM-06 ROBUST-04): Proxy tokens that were issued before the "
        "revocation of their Proxy client still redeem.",
        **forgetting(redemption.proxy_client_is_not_revoked),
    ),
    defect(
        "token-of-a-revoked-client-is-403 (REDEEM-06 ROBUST-04): The gateway answers 403 to a Proxy token "
        "of a revoked Proxy client.",
        **refusing(redemption.proxy_client_is_not_revoked, status=403),
    ),
    defect(
        "id-token-redeems (REDEEM-07 CLAIM-09): The ID token has the access token's type, and its claims "
        "in addition to its own, so it redeems.",
        id_token_type=token_claims.ACCESS_TOKEN_TYPE,
        id_token_claims=with_all_claims,
    ),
    defect(
        "wrong-user-token-is-403 (REDEEM-07): The gateway answers 403 to an invalid access token.",
        **refusing(redemption.user_token_is_good, status=403),
    ),
    defect(
        "wrong-user-token-is-400 (REDEEM-07): The gateway answers 400 to an invalid access token.",
        **refusing(redemption.user_token_is_good, status=400),
    ),
    defect(
        "redemption-scope-not-asked-for (REDEEM-08 ROBUST-04): The gateway does not require ext_token:read "
        "for redemption.",
        **forgetting(redemption.user_token_may_redeem),
    ),
    defect(
        "any-reading-scope-redeems (REDEEM-08 ROBUST-04): The gateway accepts any scope that ends in :read "
        "for redemption.",
        **redemption_check_replaced(redemption.user_token_may_redeem, any_reading_scope),
    ),
    defect(
        "missing-scope-is-403 (REDEEM-08): The gateway answers 403 to an access token without "
        "ext_token:read.",
        **refusing(redemption.user_token_may_redeem, status=403),
    ),
    defect(
        "nothing-cached-is-410 (REDEEM-10 ROBUST-04): If no merchant token was cached at sign-in, "
        "redemption answers 410 with reauthentication_required.",
        nothing_cached=nothing_cached(410, "reauthentication_required"),
    ),
    defect(
        "nothing-cached-is-401 (REDEEM-10 ROBUST-04): If no merchant token was cached at sign-in, "
        "redemption answers 401.",
        nothing_cached=nothing_cached(401, "invalid_token"),
    ),
    defect(
        "nothing-cached-is-502 (REDEEM-10 ROBUST-04): If no merchant token was cached at sign-in, "
        "redemption answers 502.",
        nothing_cached=nothing_cached(502, "bad_gateway"),
    ),
    defect(
        "rejection-cached-as-a-token (REDEEM-10 ROBUST-04): If the merchant rejects the gateway at sign-in, "
        "the gateway caches the text null as the merchant token.",
        entry_after_provisioning=kept_with_nothing_in_it,
    ),
    defect(
        "redemption-may-be-stored (REDEEM-15): Redemption answers have no Cache-Control: no-store.",
        redemption_headers={},
    ),
    defect(
        "redemption-private-only (REDEEM-15): Redemption answers have Cache-Control: private, max-age=60, "
        "so a client may store them.",
        redemption_headers={"cache-control": "private, max-age=60"},
    ),
    defect(
        "redemption-as-html (REDEEM-15): Redemption answers have the content type text/html.",
        redemption_headers={"cache-control": "no-store", "content-type": "text/html"},
    ),
)
