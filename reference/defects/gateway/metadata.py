"""Gateways whose discovery document or key sets are wrong."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import replace

from cryptography.hazmat.primitives.asymmetric import ec

from gateproof.reference.defects.defect import without_members
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.keys import KeyRing, SigningKey
from gateproof.reference.gateway.policy.discovery import DiscoveryFacts, discovery_document
from gateproof.reference.gateway.policy.key_sets import live_core_keys, public_jwk
from gateproof.reference.outcomes import JsonObject

# An RSA key of 1024 bits that is not used for signing.
OLD_RSA = {
    "kty": "RSA",
    "kid": "2009",
    "use": "sig",
    "alg": "RS256",
    "e": "AQAB",
    "n": "w" + "3Hs9_kQ1" * 21 + "Zx",
}
FORGOTTEN_SECRET = {"kty": "oct", "kid": "hs", "alg": "HS256", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"}


def with_members(change: Callable[[DiscoveryFacts], JsonObject]) -> Callable[[DiscoveryFacts], JsonObject]:
    """The correct document with some members replaced."""
    return lambda facts: discovery_document(facts) | change(facts)


def not_announcing(*names: str) -> Callable[[DiscoveryFacts], JsonObject]:
    return lambda facts: without_members(discovery_document(facts), *names)


def with_private_part(key: SigningKey) -> JsonObject:
    assert isinstance(key.private, ec.EllipticCurvePrivateKey)  # noqa: S101 - what the honest gateway makes
    secret = key.private.private_numbers().private_value
    return public_jwk(key) | {"d": _base64url(secret)}


def padded(key: SigningKey) -> JsonObject:
    jwk = public_jwk(key)
    return jwk | {name: f"{jwk[name]}=" for name in ("x", "y")}


def swapped(key: SigningKey) -> JsonObject:
    jwk = public_jwk(key)
    return jwk | {"x": jwk["y"], "y": jwk["x"]}


def _base64url(number: int) -> str:
    return urlsafe_b64encode(number.to_bytes(32, "big")).rstrip(b"=").decode()


def made_at_every_other_rotation(
    core: KeyRing, now: float, _own: tuple[SigningKey, ...]
) -> tuple[SigningKey, ...]:
    """Rebuilds the key set only at every second rotation."""
    if len(core.retired) % 2:
        *before, last = core.retired
        core = replace(core, current=last.key, retired=tuple(before))
    return live_core_keys(core, now)


def emptied_by_a_rotation(core: KeyRing, now: float, _own: tuple[SigningKey, ...]) -> tuple[SigningKey, ...]:
    """Publishes an empty key set after a rotation."""
    return () if core.retired else live_core_keys(core, now)


def with_a_shared_kid(core: KeyRing, now: float, own: tuple[SigningKey, ...]) -> tuple[SigningKey, ...]:
    """Adds a standby key with the kid of the current one."""
    standby = [replace(key, kid=core.current.kid) for key in own[:1]]
    return (*live_core_keys(core, now), *standby)


DISCOVERY = (
    defect(
        "discovery-is-a-list (DISC-01): The discovery document is wrapped in an array.",
        discovery_document=lambda facts: [discovery_document(facts)],
    ),
    defect(
        "discovery-is-encoded-twice (DISC-01): The discovery document is a JSON string that holds JSON.",
        discovery_document=lambda facts: json.dumps(discovery_document(facts)),
    ),
    defect(
        "discovery-answers-203 (DISC-01 REDEEM-01): The discovery document has status 203 instead of 200.",
        discovery_status=203,
    ),
    defect(
        "issuer-per-resource (DISC-02 CLAIM-01 CLAIM-11 REDEEM-01): The issuer in the document is the "
        "per-Resource authorization server, while tokens have the core issuer.",
        discovery_document=with_members(lambda facts: {"issuer": facts.authorization_server}),
    ),
    defect(
        "issuer-left-out (DISC-02 CLAIM-01 REDEEM-01): The document has no issuer.",
        discovery_document=not_announcing("issuer"),
    ),
    defect(
        "issuer-empty (DISC-02 CLAIM-01 REDEEM-01): The issuer in the document is an empty string.",
        discovery_document=with_members(lambda _: {"issuer": ""}),
    ),
    defect(
        "authorization-endpoint-without-resource (DISC-03 REDEEM-01): The authorization endpoint lacks the "
        "Resource ID.",
        discovery_document=with_members(
            lambda facts: {"authorization_endpoint": f"{facts.base_url}/oauth2/auth"}
        ),
    ),
    defect(
        "authorization-endpoint-on-core (DISC-03 REDEEM-01): The document has the authorization endpoint on "
        "the core host.",
        discovery_document=with_members(
            lambda facts: {"authorization_endpoint": f"{facts.core_url}/{facts.resource.id}/oauth2/auth"}
        ),
    ),
    defect(
        "token-endpoint-on-base (DISC-04 REDEEM-01): The document has the token endpoint on the gateway API "
        "host, below the Resource.",
        discovery_document=with_members(
            lambda facts: {"token_endpoint": f"{facts.authorization_server}/oauth2/token"}
        ),
    ),
    defect(
        "token-endpoint-with-another-path (DISC-04 REDEEM-01): The document has the token endpoint with the "
        "path of an older version.",
        discovery_document=with_members(lambda facts: {"token_endpoint": f"{facts.core_url}/oauth/token"}),
    ),
    defect(
        "jwks-uri-of-the-resource (DISC-05 KEYS-01 KEYS-02 KEYS-03 KEYS-04 CLAIM-11 REDEEM-01): The jwks_uri "
        "in the document is that of the Resource's own key set.",
        discovery_document=with_members(lambda facts: {"jwks_uri": f"{facts.authorization_server}/jwks"}),
    ),
    defect(
        "jwks-uri-differs-between-resources (DISC-05): The documents of different Resources have different "
        "URLs for the core key set.",
        discovery_document=with_members(
            lambda facts: {"jwks_uri": f"{facts.core_url}/jwks?resource={facts.resource.id}"}
        ),
    ),
    defect(
        "registration-endpoint-left-out (DISC-06 REDEEM-01): The document has no registration endpoint.",
        discovery_document=not_announcing("registration_endpoint"),
    ),
    defect(
        "registration-endpoint-on-core (DISC-06 REDEEM-01): The document has the registration endpoint on "
        "the core host, which has none.",
        discovery_document=with_members(
            lambda facts: {"registration_endpoint": f"{facts.core_url}/api/register"}
        ),
    ),
)

KEYS = (
    defect(
        "key-set-without-keys (KEYS-01 KEYS-02 KEYS-03 KEYS-04 CLAIM-11 REDEEM-01): The core key set is "
        "empty.",
        core_key_set=lambda _jwks: {"keys": []},
    ),
    defect(
        "key-set-under-another-name (KEYS-01 KEYS-02 KEYS-03 KEYS-04 CLAIM-11 REDEEM-01): The array of the "
        "core key set is named `jwks`.",
        core_key_set=lambda jwks: {"jwks": jwks},
    ),
    defect(
        "key-coordinates-swapped (KEYS-01 KEYS-02 KEYS-03 KEYS-04 KEYS-05 CLAIM-11 REDEEM-01): The published "
        "core key has its x and y coordinates swapped.",
        core_jwk=swapped,
    ),
    defect(
        "one-key-set-for-all (KEYS-02 KEYS-03): The Resource's key set also contains the core key.",
        resource_keys_shown=lambda core, own: (own, core.current),
    ),
    defect(
        "access-tokens-under-the-resources-key (KEYS-02 REDEEM-01 REDEEM-02 REDEEM-03 REDEEM-04 REDEEM-05 "
        "KEYS-04): Access tokens are signed with the Resource's own key, which the core key set contains "
        "too.",
        access_token_key=lambda _core, own: own,
        core_keys_shown=lambda core, now, own: (*live_core_keys(core, now), *own),
    ),
    defect(
        "access-tokens-under-the-resources-key-alone (KEYS-02 KEYS-01 KEYS-03 KEYS-04 REDEEM-01 REDEEM-02 "
        "REDEEM-03 REDEEM-04 REDEEM-05): Access tokens are signed with the Resource's own key, which the "
        "core key set does not contain.",
        access_token_key=lambda _core, own: own,
    ),
    defect(
        "short-rsa-key-in-the-core-set (KEYS-03): The core key set also contains an RSA key of 1024 bits.",
        core_key_set=lambda jwks: {"keys": [*jwks, OLD_RSA]},
    ),
    defect(
        "short-rsa-key-in-the-resource-set (KEYS-03): The Resource's key set also contains an RSA key of "
        "1024 bits.",
        resource_key_set=lambda jwks: {"keys": [*jwks, OLD_RSA]},
    ),
    defect(
        "kid-names-no-published-key (KEYS-03 KEYS-01 KEYS-04 CLAIM-11 REDEEM-01): The kid of a core key in "
        "the key set differs from the kid in tokens.",
        core_jwk=lambda key: public_jwk(key) | {"kid": f"core-{key.kid}"},
    ),
    defect(
        "rotation-forgets-the-old-key (KEYS-04): After a rotation, the core key set lacks the old key, and "
        "the gateway itself does not accept it.",
        core_keys_shown=lambda core, _now, _own: (core.current,),
        live_core_keys=lambda core, _now: (core.current,),
    ),
    defect(
        "rotation-unpublishes-the-old-key (KEYS-04): After a rotation, the core key set lacks the old key, "
        "while the gateway itself still accepts it.",
        core_keys_shown=lambda core, _now, _own: (core.current,),
    ),
    defect(
        "rotation-ends-redemption (KEYS-04): After a rotation, the gateway itself accepts only the new key.",
        live_core_keys=lambda core, _now: (core.current,),
    ),
    defect(
        "rotation-publishes-every-other-key (KEYS-01 KEYS-04 KEYS-02 KEYS-03 CLAIM-11 REDEEM-01): Every "
        "other rotation leaves the published core key set unchanged.",
        core_keys_shown=made_at_every_other_rotation,
    ),
    defect(
        "rotation-empties-the-key-set (KEYS-01 KEYS-04 KEYS-02 KEYS-03 KEYS-05 CLAIM-11 REDEEM-01): After a "
        "rotation, the published core key set is empty.",
        core_keys_shown=emptied_by_a_rotation,
    ),
    defect(
        "keys-share-a-kid (KEYS-05 KEYS-02 KEYS-03): Two keys of the core key set have the same kid.",
        core_keys_shown=with_a_shared_kid,
    ),
    defect(
        "key-members-padded (KEYS-05 KEYS-01 KEYS-02 KEYS-04 CLAIM-11 REDEEM-01): The coordinates in the "
        "core key set have base64 padding.",
        core_jwk=padded,
    ),
    defect(
        "key-members-padded-in-the-resource-set (KEYS-05): The coordinates in the Resource's key set have "
        "base64 padding.",
        resource_jwk=padded,
    ),
    defect(
        "core-private-key-published (KEYS-06): The core key set contains the private part of its key.",
        core_jwk=with_private_part,
    ),
    defect(
        "resource-private-key-published (KEYS-06): The Resource's key set contains the private part of its "
        "key.",
        resource_jwk=with_private_part,
    ),
    defect(
        "symmetric-key-published (KEYS-06): The core key set contains a symmetric key.",
        core_key_set=lambda jwks: {"keys": [*jwks, FORGOTTEN_SECRET]},
    ),
)
DEFECTS = (*DISCOVERY, *KEYS)
