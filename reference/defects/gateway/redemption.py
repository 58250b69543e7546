"""Gateways that redeem wrongly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from gateproof.reference.defects.defect import instead, without, without_members
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import redemption
from gateproof.reference.gateway.policy.redemption import (
    REDEMPTION_CHECKS,
    RedemptionCheck,
    RedemptionFacts,
    redemption_answer,
)
from gateproof.reference.gateway.records import VaultEntry
from gateproof.reference.outcomes import JsonObject, Refusal

PROXY_CHECKS = (
    redemption.proxy_token_is_good,
    redemption.proxy_client_is_not_revoked,
    redemption.same_project,
)


def answering(change: Callable[[VaultEntry], JsonObject]) -> Callable[[VaultEntry], JsonObject]:
    return lambda entry: redemption_answer(entry) | change(entry)


def dated(change: Callable[[float], object]) -> Callable[[VaultEntry], JsonObject]:
    return answering(lambda entry: {"expires_at": change(entry.expires_at or 0)})


def demanding(*, authorization: int, proxy_token: int) -> RedemptionCheck:
    """Answers with these statuses if a header is missing."""

    def check(facts: RedemptionFacts) -> Refusal | None:
        if not facts.authorizations:
            return Refusal(
                status=authorization, error="invalid_request", description="Authorization is missing"
            )
        if not facts.proxy_headers:
            return Refusal(
                status=proxy_token, error="invalid_request", description="X-Proxy-Token is missing"
            )
        return None

    return check


def with_headers(wrong: RedemptionCheck) -> tuple[RedemptionCheck, ...]:
    return instead(REDEMPTION_CHECKS, redemption.both_headers_are_there, wrong)


def if_there_is_one(check: RedemptionCheck) -> RedemptionCheck:
    """Does the check of the Proxy token only if one was sent."""
    return lambda facts: check(facts) if facts.proxy_headers else None


def optional_proxy_token() -> tuple[RedemptionCheck, ...]:
    checks = with_headers(demanding(authorization=400, proxy_token=0))
    lenient = without(checks, checks[0])
    return tuple(if_there_is_one(check) if check in PROXY_CHECKS else check for check in lenient)


def refusing_strangers_with(status: int) -> tuple[RedemptionCheck, ...]:
    def check(facts: RedemptionFacts) -> Refusal | None:
        refusal = redemption.same_project(facts)
        return replace(refusal, status=status, challenge=None) if refusal else None

    return instead(REDEMPTION_CHECKS, redemption.same_project, check)


def project_of_the_indicator(facts: RedemptionFacts) -> Refusal | None:
    """The Proxy client's Project must have a Resource with this indicator; the access token's is ignored."""
    refusal, token = redemption.same_project(facts), facts.proxy_token
    at_home = token is not None and any(
        each.indicator == facts.indicator and each.project_id == token.project_id for each in facts.resources
    )
    return None if at_home else refusal


NO_HEADER_CHECK = without(REDEMPTION_CHECKS, redemption.both_headers_are_there)
NO_PROJECT_CHECK = without(REDEMPTION_CHECKS, redemption.same_project)
BY_INDICATOR = instead(REDEMPTION_CHECKS, redemption.same_project, project_of_the_indicator)
OPTIONAL_PROXY_TOKEN = optional_proxy_token()

DEFECTS = (
    defect(
        "merchant-token-under-another-name (REDEEM-01 REDEEM-12 VAULT-01 VAULT-04 VAULT-07 VAULT-09): The "
        "redemption answer has the merchant token in the member token instead of access_token.",
        redemption_answer=lambda entry: without_members(
            redemption_answer(entry) | {"token": entry.access_token}, "access_token"
        ),
    ),
    defect(
        "merchant-token-cut-off (REDEEM-01 REDEEM-12 VAULT-01 VAULT-04 VAULT-06 VAULT-07 VAULT-09 "
        "ROBUST-02): The gateway returns only the first 20 characters of the merchant token, as from a "
        "column that is too short.",
        redemption_answer=answering(lambda entry: {"access_token": entry.access_token[:20]}),
    ),
    defect(
        "refresh-token-in-place-of-the-access-token (REDEEM-01 REDEEM-12 SECRET-01 VAULT-01 VAULT-04 "
        "VAULT-06 VAULT-07 VAULT-09 ROBUST-02): Redemption returns the merchant refresh token instead of "
        "the merchant token.",
        redemption_answer=answering(lambda entry: {"access_token": entry.refresh_token or ""}),
    ),
    defect(
        "expires-at-in-seconds (REDEEM-02): expires_at is a number of seconds since 1970.",
        redemption_answer=dated(int),
    ),
    defect(
        "expires-at-without-offset (REDEEM-02): expires_at has no time zone.",
        redemption_answer=dated(lambda at: redemption.rfc3339(at).rstrip("Z")),
    ),
    defect(
        "expires-at-as-in-mail (REDEEM-02): expires_at has the date format of mail headers.",
        redemption_answer=dated(lambda at: f"{datetime.fromtimestamp(at, UTC):%a, %d %b %Y %H:%M:%S GMT}"),
    ),
    defect(
        "missing-authorization-is-401 (REDEEM-03 REDEEM-04): The gateway answers 401 to a redemption "
        "without Authorization.",
        redemption_checks=with_headers(demanding(authorization=401, proxy_token=400)),
    ),
    defect(
        "missing-headers-are-401 (REDEEM-03 REDEEM-04): The gateway does not check for missing headers, and "
        "answers 401 as to wrong credentials.",
        redemption_checks=NO_HEADER_CHECK,
    ),
    defect(
        "missing-proxy-token-is-401 (REDEEM-04): The gateway answers 401 to a redemption without "
        "X-Proxy-Token.",
        redemption_checks=with_headers(demanding(authorization=400, proxy_token=401)),
    ),
    defect(
        "proxy-token-optional (REDEEM-04 REDEEM-03): A redemption without X-Proxy-Token succeeds.",
        redemption_checks=OPTIONAL_PROXY_TOKEN,
        redemption_rechecks=OPTIONAL_PROXY_TOKEN,
    ),
    defect(
        "proxy-token-of-any-project (REDEEM-05 ROBUST-04): The gateway does not compare the Projects of the "
        "access token and the Proxy token.",
        redemption_checks=NO_PROJECT_CHECK,
        redemption_rechecks=NO_PROJECT_CHECK,
    ),
    defect(
        "proxy-token-by-indicator (REDEEM-05): A Proxy client redeems access tokens of other Projects if "
        "its own Project has a Resource with the same indicator.",
        redemption_checks=BY_INDICATOR,
        redemption_rechecks=BY_INDICATOR,
    ),
    defect(
        "another-project-is-403 (REDEEM-05 ROBUST-04): The gateway answers 403 to a Proxy token of another "
        "Project.",
        redemption_checks=refusing_strangers_with(403),
    ),
    defect(
        "another-project-is-404 (REDEEM-05 ROBUST-04): The gateway answers 404 to a Proxy token of another "
        "Project.",
        redemption_checks=refusing_strangers_with(404),
    ),
)
