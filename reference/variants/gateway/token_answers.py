"""Other legal responses of the token endpoint and of redemption."""

from __future__ import annotations

from dataclasses import replace

from gateproof.reference.defects.defect import instead
from gateproof.reference.deviations.reissued_token import ReissuedToken
from gateproof.reference.gateway.policy import code_exchange, proxy, redemption, registration, token_claims
from gateproof.reference.gateway.records import ProxyClient, VaultEntry
from gateproof.reference.gateway.store import Store
from gateproof.reference.ids import Ids
from gateproof.reference.outcomes import JsonObject, Refusal
from gateproof.reference.variants.variant import variant


def _bare_redemption(entry: VaultEntry) -> JsonObject:
    return {"access_token": redemption.redemption_answer(entry)["access_token"]}


def _lower_case_bearer(facts: token_claims.TokenFacts, tokens: token_claims.Tokens) -> JsonObject:
    return {
        **token_claims.token_answer(facts, tokens),
        "token_type": "bearer",
        "session": {"hint": [1, None]},
    }


def _shouted_bearer(facts: token_claims.TokenFacts, tokens: token_claims.Tokens) -> JsonObject:
    return {**token_claims.token_answer(facts, tokens), "token_type": "BEARER"}


def _whole_hour(token: str, _lifetime_s: int) -> JsonObject:
    return {**proxy.proxy_token_answer(token, 3600), "token_type": "bearer"}


def _sealed(ids: Ids) -> str:
    """A JWE in its form: `{"alg":"dir","enc":"A256GCM"}`, no key, and what is encrypted."""
    return f"eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..{ids.secret()[:16]}.{ids.secret()}.{ids.secret()[:22]}"


def _in_the_form_too(facts: code_exchange.TokenRequestFacts) -> proxy.ProxyCredentials | Refusal:
    if facts.authorization is None and facts.value("client_secret"):
        return proxy.ProxyCredentials(client_id=facts.value("client_id"), secret=facts.value("client_secret"))
    return proxy.proxy_credentials(facts)


def _client_credentials_too(facts: registration.RegistrationFacts) -> Refusal | None:
    grants = facts.value("grant_types")
    if isinstance(grants, list):
        known = [grant for grant in grants if grant != "client_credentials"]
        facts = replace(facts, metadata={**facts.metadata, "grant_types": known})
    return registration.grants_are_supported(facts)


def _agents_among_them(store: Store, credentials: proxy.ProxyCredentials) -> ProxyClient | None:
    """Accepts agents as clients, too; redemption refuses their tokens."""
    agent = store.agents.get(credentials.client_id)
    if agent is None:
        return proxy.proxy_client_named(store, credentials)
    return ProxyClient(id=agent.id, secret=agent.secret, project_id="")


_KEPT = ReissuedToken()

VARIANTS = (
    variant(
        "proxy-token-handed-out-again: a Proxy client gets its current token again, with the remaining "
        "lifetime",
        new_proxy_token=_KEPT.token,
        keep_proxy_token=_KEPT.keep,
        proxy_token_answer=_KEPT.answer,
    ),
    variant(
        "redemption-without-extras: the redemption response has only the merchant token",
        redemption_answer=_bare_redemption,
    ),
    variant(
        "token-type-in-lower-case: token_type is `bearer`, and the token response has an unknown member",
        token_answer=_lower_case_bearer,
    ),
    variant("token-type-in-capitals: token_type is `BEARER`", token_answer=_shouted_bearer),
    variant(
        "proxy-token-of-3600-seconds: the expires_in of a Proxy token is 3600",
        proxy_token_answer=_whole_hour,
    ),
    variant(
        "agents-get-tokens-that-redeem-nothing: an agent may register and use client_credentials, but its "
        "token is useless at redemption",
        registration_checks=instead(
            registration.REGISTRATION_CHECKS, registration.grants_are_supported, _client_credentials_too
        ),
        proxy_credentials=_in_the_form_too,
        proxy_client_named=_agents_among_them,
    ),
    variant(
        "proxy-token-of-type-n-a (PROXY-10): the token_type of a Proxy token is N_A",
        proxy_token_answer=lambda token, life: {
            **proxy.proxy_token_answer(token, life),
            "token_type": "N_A",
        },
    ),
    variant(
        "sealed-values: codes, refresh tokens and the state at the merchant are JWEs with one header",
        new_code=_sealed,
        new_refresh_token=lambda _facts, ids: _sealed(ids),
        new_state=_sealed,
    ),
)
