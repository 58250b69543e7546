"""Other legal answers to redemptions and Proxy clients, and other legal decisions of the vault."""

from __future__ import annotations

import re
from base64 import b64decode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256
from typing import Any

from gateproof.reference.gateway.keys import KeyRing, SigningKey, signed
from gateproof.reference.gateway.policy import code_exchange, proxy, redemption, vault
from gateproof.reference.gateway.policy.redemption import REDEMPTION_CHECKS, RedemptionFacts
from gateproof.reference.gateway.policy.vault import MerchantAnswer, Step, Verdict
from gateproof.reference.gateway.records import Agent, Grant, ProxyToken, Resource, VaultEntry, VaultKey
from gateproof.reference.gateway.store import Store
from gateproof.reference.gateway.vault import Vault
from gateproof.reference.ids import Ids
from gateproof.reference.outcomes import JsonObject, Refusal
from gateproof.reference.variants.variant import variant

FIVE_MINUTES_S = 300


def _without_merchants_word(entry: VaultEntry) -> JsonObject:
    return {**redemption.redemption_answer(entry), "scopes": " ".join(entry.scopes or ()), "expires_at": None}


def _dated(form: Callable[[float], str]) -> Callable[[VaultEntry], JsonObject]:
    def answer(entry: VaultEntry) -> JsonObject:
        said = redemption.redemption_answer(entry)
        return said | ({"expires_at": form(entry.expires_at)} if entry.expires_at is not None else {})

    return answer


def _with_utc_offset(moment: float) -> str:
    return datetime.fromtimestamp(moment, timezone(timedelta(hours=5, minutes=30))).isoformat()


def _small_letters(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dt%H:%M:%S.%fz")


def _sibling_too(facts: RedemptionFacts) -> Resource | None:
    """Any Resource of the Project at the user's merchant; at others, the login may be another user's."""
    grant = facts.grant
    own = next((each for each in facts.resources if grant and each.id == grant.resource_id), None)
    for resource in facts.resources:
        if resource.project_id == facts.project_id and resource.indicator == facts.indicator:
            return resource if own is None or resource.merchant.issuer == own.merchant.issuer else None
    return None


def _nothing_more(facts: RedemptionFacts) -> Refusal | None:
    if not isinstance(facts.body, dict) or set(facts.body) <= {"resource"}:
        return None
    return Refusal(status=422, error="invalid_request", description="there is a member too many")


def _nameless_is_422(facts: RedemptionFacts) -> Refusal | None:
    refusal = redemption.resource_is_named(replace(facts, body=facts.body if facts.indicator else None))
    return replace(refusal, status=422) if refusal else None


def _instead(check: redemption.RedemptionCheck, other: redemption.RedemptionCheck) -> dict[str, Any]:
    changed = tuple(other if each is check else each for each in REDEMPTION_CHECKS)
    return {"redemption_checks": changed, "redemption_rechecks": changed}


def _with_status(status: int, *checks: redemption.RedemptionCheck) -> dict[str, Any]:
    """Gives these refusals another status."""

    def said(check: redemption.RedemptionCheck) -> redemption.RedemptionCheck:
        def other(facts: RedemptionFacts) -> Refusal | None:
            refusal = check(facts)
            return replace(refusal, status=status) if refusal else None

        return other

    changed = tuple(said(check) if check in checks else check for check in REDEMPTION_CHECKS)
    return {"redemption_checks": changed, "redemption_rechecks": changed}


def _with_leeway() -> dict[str, Any]:
    """Accepts tokens for five minutes after their expiry, because clocks may differ."""
    good, lenient = redemption.proxy_token_is_good, _leeway_for_proxy_tokens
    checks = tuple(lenient if check is good else check for check in REDEMPTION_CHECKS)
    return {
        "redemption_checks": checks,
        "redemption_rechecks": checks,
        "verified_claims": _leeway_for_access_tokens,
    }


def _leeway_for_proxy_tokens(facts: RedemptionFacts) -> Refusal | None:
    return redemption.proxy_token_is_good(replace(facts, now=facts.now - FIVE_MINUTES_S))


def _leeway_for_access_tokens(
    token: str, keys: Iterable[SigningKey], issuer: str, now: float
) -> Mapping[str, Any] | None:
    return redemption.verified_claims(token, keys, issuer, now - FIVE_MINUTES_S)


def _bare_or_bearer(store: Store, token: str) -> ProxyToken | None:
    scheme, _, rest = token.partition(" ")
    return redemption.proxy_token_behind(store, rest.strip() if scheme.lower() == "bearer" else token)


def _self_contained(record: ProxyToken, keys: KeyRing, ids: Ids) -> str:
    claims = {
        "iss": "proxy",
        "client_id": record.client_id,
        "exp": int(record.expires_at),
        "jti": ids.identifier("jti_"),
    }
    return signed(keys.current, claims, "proxy+jwt")


def _padded(_record: ProxyToken, _keys: KeyRing, ids: Ids) -> str:
    return urlsafe_b64encode(sha256(ids.secret().encode()).digest()).decode()


def _octets(token: str) -> str:
    """The decoded token; anything behind its padding is ignored."""
    try:
        return urlsafe_b64decode(token).hex()
    except ValueError:
        return ""


def _kept_by_its_octets(store: Store, token: str, record: ProxyToken, now: float) -> None:
    proxy.keep_proxy_token(store, _octets(token), record, now)


def _found_by_its_octets(store: Store, token: str) -> ProxyToken | None:
    return redemption.proxy_token_behind(store, _octets(token))


def _in_the_form_too(
    facts: code_exchange.TokenRequestFacts,
) -> proxy.ProxyCredentials | Refusal:
    if facts.value("client_secret"):
        return proxy.ProxyCredentials(client_id=facts.value("client_id"), secret=facts.value("client_secret"))
    return proxy.proxy_credentials(facts)


def _read_by_the_letter(facts: code_exchange.TokenRequestFacts) -> proxy.ProxyCredentials | Refusal:
    """Refuses Basic credentials that are not form-encoded as a malformed request."""
    read = proxy.proxy_credentials(facts)
    if isinstance(read, Refusal):
        return read
    given = b64decode((facts.authorization or "").partition(" ")[2].strip())
    if not re.search(rb"%(?![0-9A-Fa-f]{2})", given):
        return read
    return Refusal(status=400, error="invalid_request", description="the Basic credentials are malformed")


def _five_minutes_early(entry: VaultEntry, now: float) -> Step:
    """Refreshes five minutes before the expiry, as cautious clients do."""
    early = entry.expires_at is not None and now >= entry.expires_at - 300
    return vault.step(entry, max(now, entry.expires_at or now)) if early else vault.step(entry, now)


def _at_the_last_moment(entry: VaultEntry, now: float) -> Step:
    due = entry.expires_at is not None and now >= entry.expires_at
    return vault.step(entry, now) if due or entry.needs_reauthentication else "return"


def _kept_while_good(
    old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
) -> VaultEntry | None:
    """Keeps a cached token that is still valid at a new sign-in."""
    if old is not None and not old.needs_reauthentication and now < (old.expires_at or now):
        return old
    return vault.entry_after_provisioning(old, verdict, answer, now)


class _AsksOnceASignIn(Vault):
    """Does not ask the merchant again for a rejected user while the browser stays signed in."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self._rejected: set[tuple[VaultKey, float]] = set()

    async def _provision(self, grant: Grant, agent: Agent, resource: Resource) -> Verdict:
        sign_in = (self._policies.vault_key(grant, resource), grant.person.signed_in_at)
        if sign_in in self._rejected and sign_in[0] not in self._store.vault:
            return "rejected"
        verdict = await super()._provision(grant, agent, resource)
        if verdict == "rejected":
            self._rejected.add(sign_in)
        return verdict


class _AsksOnce(Vault):
    """Does not ask the merchant at a sign-in while the token of an earlier one is valid."""

    async def _provision(self, grant: Grant, agent: Agent, resource: Resource) -> Verdict:
        entry = self._store.vault.get(self._policies.vault_key(grant, resource))
        if entry is not None and vault.step(entry, self._clock.now()) == "return":
            return "accepted"
        return await super()._provision(grant, agent, resource)


def _for_both_addresses(
    grant: Grant, agent: Agent, resource: Resource, jti: str, now: float
) -> dict[str, Any]:
    claims = vault.user_assertion(grant, agent, resource, jti, now)
    return claims | {"aud": [resource.merchant.issuer, claims["aud"]]}


def _without_an_id(grant: Grant, agent: Agent, resource: Resource, jti: str, now: float) -> dict[str, Any]:
    claims = vault.user_assertion(grant, agent, resource, jti, now)
    return {name: value for name, value in claims.items() if name != "jti"}


def _act_as_text(*given: Any) -> dict[str, Any]:
    claims = vault.user_assertion(*given)
    return claims | {"act": claims["act"]["client_id"]}


def _act_deep_inside(*given: Any) -> dict[str, Any]:
    claims = vault.user_assertion(*given)
    return claims | {"act": {"sub": "https://gateway.example", "act": {"sub": claims["act"]["client_id"]}}}


def _code_elsewhere() -> Refusal:
    return replace(
        redemption.reauthentication_required(), error="gone", description="reauthentication_required"
    )


VARIANTS = (
    variant(
        "redemptions-with-more-are-refused: a redemption whose body has other members than resource gets 422",
        redemption_checks=(*REDEMPTION_CHECKS, _nothing_more),
    ),
    variant(
        "redemption-with-text-scopes: scopes is a string, and expires_at is null",
        redemption_answer=_without_merchants_word,
    ),
    variant(
        "expires-at-with-an-offset: expires_at has a time zone offset",
        redemption_answer=_dated(_with_utc_offset),
    ),
    variant(
        "expires-at-in-small-letters: expires_at has fractions of seconds, and t and z in lower case",
        redemption_answer=_dated(_small_letters),
    ),
    variant(
        "sibling-resources-redeem: a token redeems every Resource of its Project at the same merchant",
        redeemed_resource=_sibling_too,
    ),
    variant(
        "five-minutes-of-leeway: the gateway accepts access tokens and Proxy tokens for five minutes after "
        "their expiry",
        **_with_leeway(),
    ),
    variant(
        "unbelieved-proxy-token-is-403: an unknown or expired Proxy token gets status 403",
        **_with_status(403, redemption.proxy_token_is_good),
    ),
    variant(
        "nameless-resource-is-422: a redemption without `resource`, or with an empty one, gets status 422",
        **_instead(redemption.resource_is_named, _nameless_is_422),
    ),
    variant(
        "proxy-token-behind-bearer: X-Proxy-Token may have the prefix `Bearer`",
        proxy_token_behind=_bare_or_bearer,
    ),
    variant(
        "proxy-token-as-jwt: the Proxy token is a JWT, which the gateway looks up as a whole",
        new_proxy_token=_self_contained,
    ),
    variant(
        "proxy-token-found-by-its-octets: the Proxy token is padded base64, which the gateway decodes up to "
        "its padding before it looks it up",
        new_proxy_token=_padded,
        keep_proxy_token=_kept_by_its_octets,
        proxy_token_behind=_found_by_its_octets,
    ),
    variant(
        "proxy-credentials-in-the-form: Proxy clients may send their credentials in the form",
        proxy_credentials=_in_the_form_too,
    ),
    variant(
        "proxy-credentials-read-by-the-letter: Basic credentials of a Proxy client that are not "
        "form-encoded get invalid_request",
        proxy_credentials=_read_by_the_letter,
    ),
    variant(
        "provisioned-in-the-background: the gateway issues the code before it fetches the merchant token",
        provisioning_delay_s=0.4,
    ),
    variant(
        "refreshed-five-minutes-early: the gateway refreshes a merchant token five minutes before it expires",
        step=_five_minutes_early,
    ),
    variant(
        "refreshed-at-the-last-moment: the gateway refreshes a merchant token only after it has expired",
        step=_at_the_last_moment,
    ),
    variant(
        "merchant-token-kept-while-good: a new sign-in does not replace a merchant token that is still valid",
        entry_after_provisioning=_kept_while_good,
    ),
    variant(
        "merchant-asked-once-a-sign-in: while a browser stays signed in, the gateway does not ask the "
        "merchant again for a user whom it rejected",
        vault_factory=_AsksOnceASignIn,
    ),
    variant(
        "merchant-asked-once: at a sign-in, the gateway does not ask the merchant while a valid merchant "
        "token is cached",
        vault_factory=_AsksOnce,
    ),
    variant(
        "assertions-for-issuer-and-endpoint: the audience of assertions about users is the merchant's "
        "issuer and its token endpoint",
        user_assertion=_for_both_addresses,
    ),
    variant(
        "user-assertions-without-an-id: assertions about users have no jti", user_assertion=_without_an_id
    ),
    variant(
        "actor-as-text: the claim `act` is a string with the agent's client ID", user_assertion=_act_as_text
    ),
    variant(
        "actor-deep-inside: the claim `act` names the gateway, and the agent inside of that",
        user_assertion=_act_deep_inside,
    ),
    variant(
        "reauthentication-in-the-description: reauthentication_required is in error_description instead of "
        "error",
        reauthentication_required=_code_elsewhere,
    ),
)
