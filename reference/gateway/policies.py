"""Every decision of the gateway in one value. A defect or variant replaces one of them."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from starlette.types import ASGIApp

from gateproof.reference.gateway.clock import Clock
from gateproof.reference.gateway.keys import KeyRing, SigningKey, new_key
from gateproof.reference.gateway.merchants import Merchants
from gateproof.reference.gateway.pages import ApprovePageFacts, approve_page, pending_page
from gateproof.reference.gateway.policy import (
    authorization,
    code_exchange,
    discovery,
    key_sets,
    proxy,
    redemption,
    registration,
    sign_in,
    token_claims,
    vault,
)
from gateproof.reference.gateway.records import (
    Agent,
    AgentPolicy,
    AuthorizationRequest,
    Code,
    Decision,
    Grant,
    MerchantPlace,
    Person,
    Project,
    ProxyClient,
    ProxyToken,
    Resource,
    SignIn,
    Standing,
    VaultEntry,
    VaultKey,
)
from gateproof.reference.gateway.store import Expiring, Store
from gateproof.reference.ids import Ids, fingerprint
from gateproof.reference.outcomes import JsonObject, Refusal
from gateproof.reference.serving import Listen, listen

Pairs = tuple[tuple[str, str], ...]

REVALIDATE = MappingProxyType({"cache-control": "max-age=0, must-revalidate"})
NO_STORE = MappingProxyType({"cache-control": "no-store"})
MERCHANT_LIMITS = vault.MerchantLimits()
PAGE_HEADERS = MappingProxyType(
    {
        "cache-control": "no-store",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
    }
)

SpendCode = Callable[
    [Expiring[Code], str, tuple[code_exchange.CodeCheck, ...], code_exchange.CodeFacts],
    Awaitable[Code | code_exchange.CodeRefused],
]


class VaultProtocol(Protocol):
    """The methods of a vault that sign-ins and redemptions use."""

    async def provision(self, grant: Grant, agent: Agent, resource: Resource) -> vault.Verdict: ...

    async def merchant_token(self, key: VaultKey, resource: Resource) -> VaultEntry | Refusal: ...


class VaultFactory(Protocol):
    """Makes a vault from the parts of a gateway, as the class `Vault` and its subclasses do."""

    def __call__(
        self, *, store: Store, policies: Policies, clock: Clock, ids: Ids, merchants: Merchants
    ) -> VaultProtocol: ...


@dataclass(frozen=True, kw_only=True)
class Policies:
    """The correct decisions, one for each field."""

    # Discovery and key sets
    issuer: Callable[[str], str] = discovery.issuer
    discovery_document: Callable[[discovery.DiscoveryFacts], JsonObject] = discovery.discovery_document
    discovery_status: int = 200
    metadata_file: Callable[[discovery.DiscoveryFacts, str], str] = discovery.metadata_file
    discovery_headers: Mapping[str, str] = field(default_factory=lambda: REVALIDATE)
    live_core_keys: Callable[[KeyRing, float], tuple[SigningKey, ...]] = key_sets.live_core_keys
    core_keys_shown: Callable[[KeyRing, float, tuple[SigningKey, ...]], tuple[SigningKey, ...]] = (
        key_sets.core_keys_shown
    )
    resource_keys_shown: Callable[[KeyRing, SigningKey], tuple[SigningKey, ...]] = (
        key_sets.resource_keys_shown
    )
    new_core_key: Callable[[Ids], SigningKey] = new_key
    new_resource_key: Callable[[Ids], SigningKey] = new_key
    core_jwk: Callable[[SigningKey], JsonObject] = key_sets.public_jwk
    resource_jwk: Callable[[SigningKey], JsonObject] = key_sets.public_jwk
    core_key_set: Callable[[list[JsonObject]], JsonObject] = key_sets.key_set
    resource_key_set: Callable[[list[JsonObject]], JsonObject] = key_sets.key_set
    access_token_key: Callable[[KeyRing, SigningKey], SigningKey] = key_sets.access_token_key
    id_token_key: Callable[[KeyRing, SigningKey], SigningKey] = key_sets.id_token_key

    # Registration
    registration_checks: tuple[registration.RegistrationCheck, ...] = registration.REGISTRATION_CHECKS
    new_agent: Callable[[registration.RegistrationFacts, Ids, float], registration.NewAgent] = (
        registration.new_agent
    )
    registration_answer: Callable[[registration.NewAgent], JsonObject] = registration.registration_answer
    registration_status: int = 201

    # Authorization and sign-in
    read_query: Callable[[Pairs], Pairs] = authorization.as_it_came
    agent_named: Callable[[Mapping[str, Agent], str], Agent | None] = authorization.agent_named
    page_checks: tuple[authorization.AuthorizationCheck, ...] = authorization.PAGE_CHECKS
    redirect_checks: tuple[authorization.AuthorizationCheck, ...] = authorization.REDIRECT_CHECKS
    redirects_error: Callable[[Refusal], bool] = authorization.redirects_error
    authorization_request: Callable[[authorization.AuthorizationFacts], AuthorizationRequest] = (
        authorization.authorization_request
    )
    remembered: Callable[[Person | None, float], Person | None] = sign_in.remembered
    known_user: Callable[[Store, authorization.AuthorizationFacts, Person | None], Person | None] = (
        sign_in.known_user
    )
    signed_in_as: Callable[[Person | None, Person], Person] = sign_in.signed_in_as
    session_of: Callable[[Resource], str] = sign_in.session_of
    session_keys: Callable[[str, str, bool], tuple[str, ...]] = sign_in.session_keys
    merchant_code_bindings: frozenset[str] = sign_in.CODE_BINDINGS
    # The key of the sign-in for the `state` values of a callback, and the browser.
    sign_in_key: Callable[[Store, tuple[str, ...], str | None], str] = sign_in.by_state
    # Gets the Resource of the address, and the one for which the sign-in was begun.
    resource_of_the_page: Callable[[Resource, Resource, bool], Resource | None] = sign_in.resource_of_the_page
    same_browser: Callable[[SignIn, str | None], bool] = sign_in.same_browser
    # The state that the merchant returns with its code.
    new_state: Callable[[Ids], str] = lambda ids: ids.secret()
    # How the merchant sends the browser back: by a redirect, or by a form ("form_post").
    merchant_response_mode: str = ""
    # Whether all Resources share one callback; else each has its own.
    one_callback: bool = False
    answering: Callable[[Resource, str, Iterable[Resource]], MerchantPlace | None] = sign_in.answering
    unfinished: Callable[[sign_in.UnfinishedFacts], Person | None] = sign_in.no_user
    key_set_uri: Callable[[MerchantPlace, object], str] = sign_in.key_set_uri
    # The user according to userinfo; gets the user of a valid ID token. None: userinfo is not requested.
    named_by_userinfo: Callable[[Person | None, JsonObject, float], Person | None] | None = None
    person_named: Callable[[sign_in.IdTokenFacts], Person | None] = sign_in.person_named
    standing_key: Callable[[str, str], tuple[str, str]] = authorization.standing_key
    agent_standing: Callable[[Standing | None, Project], Standing] = authorization.agent_standing
    standing_at: Callable[[Store, Resource, Agent, Standing], Standing] = authorization.standing_at
    record_approval: Callable[[dict[tuple[str, str], Standing], tuple[str, str]], None] = (
        authorization.record_approval
    )
    consent: Callable[[authorization.ConsentFacts], Standing | None] = authorization.consent
    # The sign-in to which a decision applies; None refuses the decision.
    sign_in_decided: Callable[[Store, SignIn], SignIn | None] = sign_in.sign_in_decided
    first_policy: Callable[[AgentPolicy | None], AgentPolicy] = authorization.first_policy
    pending_page: Callable[[Agent], str] = pending_page
    # Whether a Pending agent gets a redirect with an error; else the user sees a page.
    pending_redirects_error: bool = False
    decided: Callable[[str], Decision] = authorization.decided
    approve_page: Callable[[ApprovePageFacts], str] = approve_page
    continues_sign_in: Callable[[vault.Verdict], bool] = vault.continues_sign_in
    code_redirect: Callable[[AuthorizationRequest, str, str], str] = authorization.code_redirect
    error_redirect: Callable[[str, str, str, str, str], str] = authorization.error_redirect
    new_code: Callable[[Ids], str] = lambda ids: ids.secret()
    redirect_status: int = 302
    # More headers for the redirect with a code: none.
    code_headers: Callable[[str], Mapping[str, str]] = lambda _code: {}
    page_headers: Mapping[str, str] = field(default_factory=lambda: PAGE_HEADERS)

    # Token endpoint, agents
    token_methods: tuple[str, ...] = ("POST",)
    token_fields: Callable[[Pairs, Pairs], Pairs] = code_exchange.form_alone
    token_request_checks: tuple[code_exchange.RequestCheck, ...] = code_exchange.TOKEN_REQUEST_CHECKS
    agent_credentials: Callable[
        [code_exchange.TokenRequestFacts], code_exchange.AgentCredentials | Refusal
    ] = code_exchange.agent_credentials
    agent_checks: tuple[code_exchange.AgentCheck, ...] = code_exchange.AGENT_CHECKS
    exchange_fields: code_exchange.RequestCheck = code_exchange.exchange_fields_are_given
    code_lifetime_s: float = code_exchange.CODE_LIFETIME_S
    code_checks: tuple[code_exchange.CodeCheck, ...] = code_exchange.CODE_CHECKS
    spend_code: SpendCode = code_exchange.spend_code
    refresh_checks: tuple[code_exchange.RefreshCheck, ...] = code_exchange.REFRESH_CHECKS
    token_headers: Mapping[str, str] = field(default_factory=lambda: NO_STORE)

    # Tokens
    subject: Callable[[Mapping[tuple[str, str], str], str, str, Ids], str] = token_claims.subject
    granted_scopes: Callable[[tuple[str, ...], Agent], tuple[str, ...]] = token_claims.granted_scopes
    access_token_claims: Callable[[token_claims.TokenFacts], JsonObject] = token_claims.access_token_claims
    id_token_claims: Callable[[token_claims.TokenFacts], JsonObject] = token_claims.id_token_claims
    id_token_type: str = token_claims.ID_TOKEN_TYPE
    new_refresh_token: Callable[[token_claims.TokenFacts, Ids], str] = token_claims.new_refresh_token
    token_answer: Callable[[token_claims.TokenFacts, token_claims.Tokens], JsonObject] = (
        token_claims.token_answer
    )

    # Token endpoint, Proxy clients
    proxy_credentials: Callable[[code_exchange.TokenRequestFacts], proxy.ProxyCredentials | Refusal] = (
        proxy.proxy_credentials
    )
    kept_proxy_secret: Callable[[str], str] = fingerprint
    proxy_client_named: Callable[[Store, proxy.ProxyCredentials], ProxyClient | None] = (
        proxy.proxy_client_named
    )
    proxy_client_checks: tuple[proxy.ProxyClientCheck, ...] = proxy.PROXY_CLIENT_CHECKS
    proxy_token_lifetime_s: int = proxy.PROXY_TOKEN_LIFETIME_S
    new_proxy_token: Callable[[ProxyToken, KeyRing, Ids], str] = proxy.new_proxy_token
    keep_proxy_token: Callable[[Store, str, ProxyToken, float], None] = proxy.keep_proxy_token
    proxy_token_answer: Callable[[str, int], JsonObject] = proxy.proxy_token_answer

    # Redemption
    bearer_token: Callable[[tuple[str, ...]], str | None] = redemption.bearer_token
    verified_claims: Callable[[str, Iterable[SigningKey], str, float], Mapping[str, Any] | None] = (
        redemption.verified_claims
    )
    proxy_token_behind: Callable[[Store, str], ProxyToken | None] = redemption.proxy_token_behind
    redemption_body: Callable[[redemption.RawBody], Any] = redemption.redemption_body
    redemption_checks: tuple[redemption.RedemptionCheck, ...] = redemption.REDEMPTION_CHECKS
    redemption_rechecks: tuple[redemption.RedemptionCheck, ...] = redemption.REDEMPTION_CHECKS
    redeemed_resource: Callable[[redemption.RedemptionFacts], Resource | None] = redemption.redeemed_resource
    vault_key: Callable[[Grant, Resource], VaultKey] = redemption.vault_key
    redemption_answer: Callable[[VaultEntry], JsonObject] = redemption.redemption_answer
    grant_behind: Callable[[Mapping[str, Any], Store], Grant | None] = redemption.grant_behind
    resource_not_found: Callable[[], Refusal] = redemption.resource_not_found
    nothing_cached: Callable[[], Refusal] = redemption.nothing_cached
    reauthentication_required: Callable[[], Refusal] = redemption.reauthentication_required
    merchant_unavailable: Callable[[], Refusal] = redemption.merchant_unavailable
    redemption_headers: Mapping[str, str] = field(default_factory=lambda: NO_STORE)

    # The vault
    vault_factory: VaultFactory | None = None
    merchant_limits: vault.MerchantLimits = field(default_factory=lambda: MERCHANT_LIMITS)
    step: Callable[[VaultEntry, float], vault.Step] = vault.step
    flight_key: Callable[[VaultKey], Hashable] = vault.flight_key
    # None: the merchant token is fetched before the code is issued. Else it is fetched after this delay.
    provisioning_delay_s: float | None = None
    provisioning_verdict: Callable[[vault.MerchantAnswer], vault.Verdict] = vault.provisioning_verdict
    refresh_verdict: Callable[[vault.MerchantAnswer], vault.Verdict] = vault.refresh_verdict
    refreshed_entry: Callable[[VaultEntry, vault.MerchantAnswer, float], VaultEntry] = vault.refreshed_entry
    rejected_entry: Callable[[VaultEntry], VaultEntry] = vault.rejected_entry
    entry_after_provisioning: Callable[
        [VaultEntry | None, vault.Verdict, vault.MerchantAnswer, float], VaultEntry | None
    ] = vault.entry_after_provisioning
    usable_after_transient: Callable[[VaultEntry, float], bool] = vault.usable_after_transient
    assertion_key: Callable[[KeyRing, SigningKey], SigningKey] = key_sets.assertion_key
    user_assertion: Callable[[Grant, Agent, Resource, str, float], dict[str, Any]] = vault.user_assertion
    client_assertion: Callable[[Resource, str, float], dict[str, Any]] = vault.client_assertion

    # The transport, and a wrapper for every endpoint
    oldest_tls: ssl.TLSVersion = ssl.TLSVersion.TLSv1_2
    listen: Listen = listen
    # The second argument is the gateway with these policies.
    around: Callable[[ASGIApp, Any], ASGIApp] = lambda app, _gateway: app

    # The part of the stored data that is there after a restart: all of it.
    left_after_a_restart: Callable[[Store, Ids], Store] = lambda store, _ids: store

    # The log
    logged_path: Callable[[str, str], str] = lambda path, query: path  # noqa: ARG005 - the query is left out
