"""Gateways that handle the first credential correctly, but a second or older one wrongly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.agent_credentials import basic_accepted
from gateproof.reference.defects.gateway.proxy_clients import redemption_check_replaced
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.reissued_token import ReissuedToken
from gateproof.reference.gateway.policies import SpendCode
from gateproof.reference.gateway.policy import code_exchange, proxy, redemption, registration
from gateproof.reference.gateway.policy.code_exchange import (
    AgentCredentials,
    CodeCheck,
    CodeFacts,
    CodeRefused,
    TokenRequestFacts,
    agent_credentials,
)
from gateproof.reference.gateway.policy.redemption import RedemptionCheck, RedemptionFacts
from gateproof.reference.gateway.policy.registration import NewAgent, RegistrationFacts
from gateproof.reference.gateway.records import Code, ProxyToken
from gateproof.reference.gateway.store import Expiring, Store
from gateproof.reference.ids import fingerprint
from gateproof.reference.outcomes import JsonObject, Refusal


def renewed_by_use() -> RedemptionCheck:
    """Each use extends a Proxy token to an hour from then."""
    ends: dict[str, float] = {}

    def check(facts: RedemptionFacts) -> Refusal | None:
        token, sent = facts.proxy_token, facts.proxy_headers[0]
        moved = replace(token, expires_at=ends.get(sent, token.expires_at)) if token else None
        refusal = redemption.proxy_token_is_good(replace(facts, proxy_token=moved))
        if refusal is None:
            ends[sent] = facts.now + proxy.PROXY_TOKEN_LIFETIME_S
        return refusal

    return check


def two_hours_after_the_first() -> dict[str, object]:
    """Announces two hours from the second Proxy token of a client on."""
    asked: set[str] = set()
    said: list[int] = []

    def keep(store: Store, token: str, record: ProxyToken, now: float) -> None:
        said[:] = [7200 if record.client_id in asked else proxy.PROXY_TOKEN_LIFETIME_S]
        asked.add(record.client_id)
        proxy.keep_proxy_token(store, token, record, now)

    def answer(token: str, _lifetime_s: int) -> JsonObject:
        return proxy.proxy_token_answer(token, said[0])

    return {"keep_proxy_token": keep, "proxy_token_answer": answer}


def reaching_used_tokens() -> dict[str, object]:
    """Checks for revocation only for Proxy tokens that were used before."""
    used: set[str] = set()

    def check(facts: RedemptionFacts) -> Refusal | None:
        sent = facts.proxy_headers[0]
        refusal = redemption.proxy_client_is_not_revoked(facts)
        if facts.proxy_client is None or (refusal is not None and sent in used):
            return refusal
        if refusal is None:
            used.add(sent)
        return None

    return redemption_check_replaced(redemption.proxy_client_is_not_revoked, check)


def reaching_one_token(which: Callable[[list[str]], str]) -> dict[str, Any]:
    """The Proxy client's row has one Proxy token, and only this token is revoked with the client."""
    given: dict[str, list[str]] = {}

    def keep(store: Store, token: str, record: ProxyToken, now: float) -> None:
        given.setdefault(record.client_id, []).append(fingerprint(token))
        proxy.keep_proxy_token(store, token, record, now)

    def check(facts: RedemptionFacts) -> Refusal | None:
        client = facts.proxy_client
        tokens = given.get(client.id, []) if client else []
        if tokens and fingerprint(facts.proxy_headers[0]) != which(tokens):
            return None
        return redemption.proxy_client_is_not_revoked(facts)

    return {
        "keep_proxy_token": keep,
        **redemption_check_replaced(redemption.proxy_client_is_not_revoked, check),
    }


def first_two_alone(facts: RegistrationFacts) -> Refusal | None:
    """Checks only the first two redirect URIs."""
    looked_at = {**facts.metadata, "redirect_uris": facts.value("redirect_uris")[:2]}
    return registration.redirect_uris_are_https(replace(facts, metadata=looked_at))


def expiring_without_a_refresh(new: NewAgent) -> JsonObject:
    honest = registration.registration_answer(new)
    ends = 0 if "refresh_token" in new.agent.grant_types else int(new.agent.registered_at) + 86400
    return honest | {"client_secret_expires_at": ends}


def unverified_with_several_addresses(new: NewAgent) -> JsonObject:
    honest = registration.registration_answer(new)
    return honest if len(new.agent.redirect_uris) == 1 else honest | {"verification_method": None}


def secret_in_a_refusal() -> dict[str, Any]:
    """The error for a different redirect URI shows the client's ID and secret."""
    row: list[str] = []

    def credentials(facts: TokenRequestFacts) -> AgentCredentials | Refusal:
        row[:] = [facts.value("client_secret")]
        return code_exchange.agent_credentials(facts)

    def check(facts: CodeFacts) -> Refusal | None:
        refusal = code_exchange.redirect_uri_is_the_same(facts)
        return replace(refusal, description=f"{facts.agent.id} {row[0]}: redirect_uri") if refusal else None

    checks = instead(code_exchange.CODE_CHECKS, code_exchange.redirect_uri_is_the_same, check)
    return {"agent_credentials": credentials, "code_checks": checks}


def basic_over_the_form(facts: TokenRequestFacts) -> AgentCredentials | Refusal:
    """If a form with a secret comes with a Basic header, the header is used."""
    return basic_accepted(with_id=True)(facts) if facts.value("client_secret") else agent_credentials(facts)


def used_codes_forgotten_after(seconds: float) -> SpendCode:
    """Used codes are in a cache whose entries expire before the codes do."""
    used: dict[str, float] = {}

    async def spend(
        codes: Expiring[Code], key: str, checks: tuple[CodeCheck, ...], facts: CodeFacts
    ) -> Code | CodeRefused:
        code = codes.get(key)
        if code is not None and facts.now - used.setdefault(key, facts.now) > seconds:
            codes.change(key, replace(code, spent=False))
        return await code_exchange.spend_code(codes, key, checks, facts)

    return spend


KEPT = ReissuedToken()

PROXY_TOKENS = (
    defect(
        "proxy-token-renewed-by-use (PROXY-07 ROBUST-04): A Proxy token expires an hour after its last use.",
        **redemption_check_replaced(redemption.proxy_token_is_good, renewed_by_use()),
    ),
    defect(
        "proxy-token-given-again-with-a-whole-hour (PROXY-02 PROXY-06): A Proxy client gets its existing "
        "Proxy token again, with a full hour in expires_in.",
        new_proxy_token=KEPT.token,
        keep_proxy_token=KEPT.keep,
    ),
    defect(
        "proxy-tokens-after-the-first-announced-too-long (PROXY-02): The gateway announces a lifetime of "
        "two hours for all Proxy tokens of a client except the first.",
        **two_hours_after_the_first(),
    ),
    defect(
        "revocation-reaches-used-proxy-tokens (REDEEM-06 ROBUST-04): The revocation of a Proxy client ends "
        "only those of its Proxy tokens that were used before.",
        **reaching_used_tokens(),
    ),
    defect(
        "revocation-reaches-the-newest-proxy-token (REDEEM-06 ROBUST-04): The revocation of a Proxy client "
        "ends only its newest Proxy token.",
        **reaching_one_token(lambda tokens: tokens[-1]),
    ),
    defect(
        "revocation-reaches-the-oldest-proxy-token (REDEEM-06 ROBUST-04): The revocation of a Proxy client "
        "ends only its oldest Proxy token.",
        **reaching_one_token(lambda tokens: tokens[0]),
    ),
)

AGENT_CREDENTIALS = (
    defect(
        "redirect-uris-read-up-to-the-second (REG-06): The gateway checks only the first two redirect URIs "
        "for HTTPS.",
        registration_checks=instead(
            registration.REGISTRATION_CHECKS, registration.redirect_uris_are_https, first_two_alone
        ),
    ),
    defect(
        "secret-expires-without-the-refresh-grant (REG-03): The registration answer says that the secret "
        "expires after a day if the agent registers without the refresh_token grant.",
        registration_answer=expiring_without_a_refresh,
    ),
    defect(
        "no-verification-method-with-several-redirect-uris (REG-02): verification_method is null for an "
        "agent with several redirect URIs.",
        registration_answer=unverified_with_several_addresses,
    ),
    defect(
        "secret-in-the-refusal-of-a-redirect-uri (REG-10): The error for a different redirect URI in an "
        "exchange contains the client secret.",
        **secret_in_a_refusal(),
    ),
    defect(
        "basic-over-a-wrong-secret-in-the-form (CODE-09): A Basic header overrides the client secret in the "
        "form.",
        agent_credentials=basic_over_the_form,
    ),
    defect(
        "used-codes-forgotten-after-two-minutes (CODE-02): A code is valid for ten minutes, but the gateway "
        "forgets after two minutes that it was used.",
        code_lifetime_s=600,
        spend_code=used_codes_forgotten_after(120),
    ),
)

DEFECTS = (*PROXY_TOKENS, *AGENT_CREDENTIALS)
