"""Gateways with wrong keys, documents or claims after a first use, a rotation or a refresh."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from secrets import token_hex
from typing import Any

from starlette.types import ASGIApp

from gateproof.reference.defects.gateway.metadata import with_private_part
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.defects.gateway.vault import RULES_WITHOUT_MERCHANT_TOKENS
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.keys import KeyRing, SigningKey
from gateproof.reference.gateway.policy import code_exchange, discovery, key_sets
from gateproof.reference.gateway.policy.code_exchange import RefreshFacts, TokenRequestFacts
from gateproof.reference.gateway.policy.discovery import DiscoveryFacts
from gateproof.reference.gateway.policy.token_claims import TokenFacts, access_token_claims
from gateproof.reference.outcomes import JsonObject, Refusal

Change = Callable[[TokenFacts, JsonObject], JsonObject]


def private_once_retired() -> dict[str, Any]:
    """Publishes the private part of every core key except the current one."""
    current: list[str] = []

    def shown(core: KeyRing, now: float, own: tuple[SigningKey, ...]) -> tuple[SigningKey, ...]:
        current[:] = [core.current.kid]
        return key_sets.core_keys_shown(core, now, own)

    def jwk(key: SigningKey) -> JsonObject:
        return key_sets.public_jwk(key) if key.kid in current else with_private_part(key)

    return {"core_keys_shown": shown, "core_jwk": jwk}


def private_once_used() -> dict[str, Any]:
    """Publishes the private part of a key once it was loaded for signing."""
    loaded: set[str] = set()

    def signing(core: KeyRing, own: SigningKey) -> SigningKey:
        loaded.add(own.kid)
        return key_sets.assertion_key(core, own)

    def jwk(key: SigningKey) -> JsonObject:
        return with_private_part(key) if key.kid in loaded else key_sets.public_jwk(key)

    return {"assertion_key": signing, "resource_jwk": jwk}


def right_for_the_first_resource() -> dict[str, Any]:
    """The documents of all Resources of a Project except the first have another token endpoint."""
    held: list[Gateway] = []

    def around(app: ASGIApp, gateway: Gateway) -> ASGIApp:
        held[:] = [gateway]
        return app

    def document(facts: DiscoveryFacts) -> JsonObject:
        honest = discovery.discovery_document(facts)
        first = held[0].store.resources_of(facts.resource.project_id)[0]
        own = {"token_endpoint": f"{facts.authorization_server}/oauth2/token"}
        return honest if first.id == facts.resource.id else honest | own

    return {"around": around, "discovery_document": document}


def resources_key_after_a_refresh(
    when: Callable[[KeyRing], bool] = lambda _core: True,
) -> dict[str, Any]:
    """A refresh signs the access token with the Resource's key."""
    renewing: list[bool] = []

    def exchange_fields(facts: TokenRequestFacts) -> Refusal | None:
        renewing.clear()
        return code_exchange.exchange_fields_are_given(facts)

    def renews(_facts: RefreshFacts) -> Refusal | None:
        renewing[:] = [True]
        return None

    def key(core: KeyRing, own: SigningKey) -> SigningKey:
        return own if renewing and when(core) else key_sets.access_token_key(core, own)

    return {
        "exchange_fields": exchange_fields,
        "refresh_checks": (renews, *code_exchange.REFRESH_CHECKS),
        "access_token_key": key,
    }


def named_as_before(core: KeyRing, own: SigningKey) -> SigningKey:
    """The kid comes from a setting that was not changed at the rotation."""
    key = key_sets.access_token_key(core, own)
    return replace(key, kid=core.retired[-1].key.kid) if core.retired else key


def renewed_with(
    change: Callable[[TokenFacts, JsonObject], JsonObject],
) -> Callable[[TokenFacts], JsonObject]:
    """Changes the claims of access tokens from a refresh, but not of those from a code."""

    def claims(facts: TokenFacts) -> JsonObject:
        honest = access_token_claims(facts)
        if facts.request.value("grant_type") != "refresh_token":
            return honest
        return honest | change(facts, honest)

    return claims


DEFECTS = (
    defect(
        "core-private-key-published-once-retired (KEYS-06): The core key set contains the private part of a "
        "key after it was rotated out.",
        **private_once_retired(),
    ),
    defect(
        "resource-private-key-published-once-used (KEYS-06): The Resource's key set contains the private "
        "part of its key after the first signature.",
        **private_once_used(),
    ),
    defect(
        f"assertions-under-the-core-key-after-a-rotation (VAULT-08 {RULES_WITHOUT_MERCHANT_TOKENS}): "
        f"After a rotation, the gateway signs its assertions to the merchant with the new core key.",
        assertion_key=lambda core, own: core.current if core.retired else own,
    ),
    defect(
        "token-endpoint-of-later-resources-on-base (DISC-04): The discovery documents of all Resources of a "
        "Project except the first announce a token endpoint on the API host.",
        **right_for_the_first_resource(),
    ),
    defect(
        "refreshed-tokens-under-the-resources-key (KEYS-01 KEYS-02): An access token from a refresh is "
        "signed with the Resource's key.",
        **resources_key_after_a_refresh(),
    ),
    defect(
        "refreshed-tokens-under-the-resources-key-once-rotated (KEYS-01 KEYS-02): After a rotation of the "
        "core key, an access token from a refresh is signed with the Resource's key.",
        **resources_key_after_a_refresh(lambda core: bool(core.retired)),
    ),
    defect(
        "refreshed-tokens-under-a-shared-key (KEYS-02): An access token from a refresh is signed with the "
        "Resource's key, which the core key set also contains.",
        **resources_key_after_a_refresh(),
        core_keys_shown=lambda core, now, own: (*key_sets.live_core_keys(core, now), *own),
    ),
    defect(
        "issuer-with-a-slash-after-a-refresh (CLAIM-01): iss in an access token from a refresh has a "
        "trailing slash.",
        access_token_claims=renewed_with(lambda _, honest: {"iss": f"{honest['iss']}/"}),
    ),
    defect(
        "audience-as-text-after-a-refresh (CLAIM-02): aud in an access token from a refresh is a string.",
        access_token_claims=renewed_with(lambda facts, _: {"aud": facts.resource.indicator}),
    ),
    defect(
        "another-sub-after-a-refresh (CLAIM-03 CODE-16): sub in an access token from a refresh is a new "
        "random value each time.",
        access_token_claims=renewed_with(lambda *_: {"sub": f"sub_{token_hex(8)}"}),
    ),
    defect(
        "exp-in-milliseconds-after-a-refresh (CLAIM-04): exp in an access token from a refresh is in "
        "milliseconds.",
        access_token_claims=renewed_with(lambda _, honest: {"exp": honest["exp"] * 1000}),
    ),
    defect(
        "methods-as-text-after-a-refresh (CLAIM-06): ext.amr in an access token from a refresh is one "
        "string.",
        access_token_claims=renewed_with(
            lambda _, honest: {"ext": {**honest["ext"], "amr": " ".join(honest["ext"]["amr"])}}
        ),
    ),
    defect(
        "agent-by-its-name-alone-after-a-refresh (CLAIM-07): ext.agent in an access token from a refresh "
        "has only a name, and no client ID.",
        access_token_claims=renewed_with(
            lambda _, honest: {"ext": {**honest["ext"], "agent": {"name": "agent"}}}
        ),
    ),
    defect(
        "old-kid-after-a-rotation (KEYS-03 REDEEM-01): After a rotation, access tokens are signed with the "
        "new key, but their kid is that of the old key.",
        access_token_key=named_as_before,
    ),
    defect(
        "acr-of-level-1-after-a-refresh (CLAIM-05): ext.acr in an access token from a refresh has level 1, "
        "because the user has not just signed in.",
        access_token_claims=renewed_with(
            lambda _, honest: {"ext": {**honest["ext"], "acr": "urn:gateway:acr:al1"}}
        ),
    ),
    defect(
        "project-left-out-after-a-refresh (CLAIM-08 CODE-16): An access token from a refresh has no "
        "ext.project_id.",
        access_token_claims=renewed_with(
            lambda _, honest: {"ext": {k: v for k, v in honest["ext"].items() if k != "project_id"}}
        ),
    ),
)
