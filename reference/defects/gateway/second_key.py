"""Gateways whose keys and documents are right until one is used, renewed or made a second time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from secrets import token_hex
from typing import Any

from starlette.types import ASGIApp

from gateproof.reference.defects.gateway.metadata import with_private_part
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.defects.gateway.vault import NOTHING_WORKS
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.keys import KeyRing, SigningKey
from gateproof.reference.gateway.policy import code_exchange, discovery, key_sets
from gateproof.reference.gateway.policy.code_exchange import RefreshFacts, TokenRequestFacts
from gateproof.reference.gateway.policy.discovery import DiscoveryFacts
from gateproof.reference.gateway.policy.token_claims import TokenFacts, access_token_claims
from gateproof.reference.outcomes import JsonObject, Refusal

Change = Callable[[TokenFacts, JsonObject], JsonObject]


def private_once_retired() -> dict[str, Any]:
    """What leaves the place of the current key is written out whole."""
    current: list[str] = []

    def shown(core: KeyRing, now: float, own: tuple[SigningKey, ...]) -> tuple[SigningKey, ...]:
        current[:] = [core.current.kid]
        return key_sets.core_keys_shown(core, now, own)

    def jwk(key: SigningKey) -> JsonObject:
        return key_sets.public_jwk(key) if key.kid in current else with_private_part(key)

    return {"core_keys_shown": shown, "core_jwk": jwk}


def private_once_used() -> dict[str, Any]:
    """A key that was loaded to sign with stays in the cache that the key set is made from."""
    loaded: set[str] = set()

    def signing(core: KeyRing, own: SigningKey) -> SigningKey:
        loaded.add(own.kid)
        return key_sets.assertion_key(core, own)

    def jwk(key: SigningKey) -> JsonObject:
        return with_private_part(key) if key.kid in loaded else key_sets.public_jwk(key)

    return {"assertion_key": signing, "resource_jwk": jwk}


def right_for_the_first_resource() -> dict[str, Any]:
    """The document of a Project's first Resource is honest, and the others' have an address of their own."""
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
    """A refresh signs with the key that lies nearest."""
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
    """The name of the key comes from a setting that nobody has changed."""
    key = key_sets.access_token_key(core, own)
    return replace(key, kid=core.retired[-1].key.kid) if core.retired else key


def renewed_with(
    change: Callable[[TokenFacts, JsonObject], JsonObject],
) -> Callable[[TokenFacts], JsonObject]:
    """Access tokens that a code gave are honest, and those that a refresh gave are not."""

    def claims(facts: TokenFacts) -> JsonObject:
        honest = access_token_claims(facts)
        if facts.request.value("grant_type") != "refresh_token":
            return honest
        return honest | change(facts, honest)

    return claims


DEFECTS = (
    defect(
        "core-private-key-published-once-retired (KEYS-06): A core key that was rotated out is published "
        "with its private part.",
        **private_once_retired(),
    ),
    defect(
        "resource-private-key-published-once-used (KEYS-06): The Resource's key is published with its "
        "private part from its first signature on.",
        **private_once_used(),
    ),
    defect(
        f"assertions-under-the-core-key-after-a-rotation (VAULT-08 {NOTHING_WORKS}): Once the core key was "
        f"rotated, the new one signs what the gateway asserts to the merchant.",
        assertion_key=lambda core, own: core.current if core.retired else own,
    ),
    defect(
        "token-endpoint-of-later-resources-on-base (DISC-04): From a Project's second Resource on, the "
        "document announces a token endpoint on base.",
        **right_for_the_first_resource(),
    ),
    defect(
        "refreshed-tokens-under-the-resources-key (KEYS-01 KEYS-02): An access token that came of a refresh "
        "is signed with the Resource's own key.",
        **resources_key_after_a_refresh(),
    ),
    defect(
        "refreshed-tokens-under-the-resources-key-once-rotated (KEYS-01 KEYS-02): After a rotation, an "
        "access token that came of a refresh is signed with the Resource's own key.",
        **resources_key_after_a_refresh(lambda core: bool(core.retired)),
    ),
    defect(
        "refreshed-tokens-under-a-shared-key (KEYS-02): An access token that came of a refresh is signed "
        "with the Resource's own key, which the core key set shows as well.",
        **resources_key_after_a_refresh(),
        core_keys_shown=lambda core, now, own: (*key_sets.live_core_keys(core, now), *own),
    ),
    defect(
        "issuer-with-a-slash-after-a-refresh (CLAIM-01): The issuer in an access token that came of a "
        "refresh ends in a slash.",
        access_token_claims=renewed_with(lambda _, honest: {"iss": f"{honest['iss']}/"}),
    ),
    defect(
        "audience-as-text-after-a-refresh (CLAIM-02): The audience of an access token that came of a "
        "refresh is a string.",
        access_token_claims=renewed_with(lambda facts, _: {"aud": facts.resource.indicator}),
    ),
    defect(
        "another-sub-after-a-refresh (CLAIM-03 CODE-16): The sub in an access token that came of a refresh "
        "is another each time.",
        access_token_claims=renewed_with(lambda *_: {"sub": f"sub_{token_hex(8)}"}),
    ),
    defect(
        "exp-in-milliseconds-after-a-refresh (CLAIM-04): The end of an access token that came of a refresh "
        "is in milliseconds.",
        access_token_claims=renewed_with(lambda _, honest: {"exp": honest["exp"] * 1000}),
    ),
    defect(
        "methods-as-text-after-a-refresh (CLAIM-06): The methods in an access token that came of a refresh "
        "are one string.",
        access_token_claims=renewed_with(
            lambda _, honest: {"ext": {**honest["ext"], "amr": " ".join(honest["ext"]["amr"])}}
        ),
    ),
    defect(
        "agent-by-its-name-alone-after-a-refresh (CLAIM-07): An access token that came of a refresh names "
        "the agent without its client ID.",
        access_token_claims=renewed_with(
            lambda _, honest: {"ext": {**honest["ext"], "agent": {"name": "agent"}}}
        ),
    ),
    defect(
        "old-kid-after-a-rotation (KEYS-03 REDEEM-01): After a rotation tokens are signed with the new key, "
        "and name the one before.",
        access_token_key=named_as_before,
    ),
    defect(
        "acr-of-level-1-after-a-refresh (CLAIM-05): The class in an access token that came of a refresh is "
        "of level 1: nobody has just signed in.",
        access_token_claims=renewed_with(
            lambda _, honest: {"ext": {**honest["ext"], "acr": "urn:gateway:acr:al1"}}
        ),
    ),
    defect(
        "project-left-out-after-a-refresh (CLAIM-08 CODE-16): An access token that came of a refresh names "
        "no Project.",
        access_token_claims=renewed_with(
            lambda _, honest: {"ext": {k: v for k, v in honest["ext"].items() if k != "project_id"}}
        ),
    ),
)
