"""Gateways whose discovery document or key sets are wrong."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import replace

from cryptography.hazmat.primitives.asymmetric import ec

from gateproof.reference.defects.defect import lacking
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.keys import KeyRing, SigningKey
from gateproof.reference.gateway.policy.discovery import DiscoveryFacts, discovery_document
from gateproof.reference.gateway.policy.key_sets import live_core_keys, public_jwk
from gateproof.reference.outcomes import JsonObject

# An RSA key of 1024 bits that signs nothing; it was forgotten in the set.
OLD_RSA = {
    "kty": "RSA",
    "kid": "2009",
    "use": "sig",
    "alg": "RS256",
    "e": "AQAB",
    "n": "w" + "3Hs9_kQ1" * 21 + "Zx",
}
FORGOTTEN_SECRET = {"kty": "oct", "kid": "hs", "alg": "HS256", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"}


def announcing(change: Callable[[DiscoveryFacts], JsonObject]) -> Callable[[DiscoveryFacts], JsonObject]:
    """The honest document with some members replaced."""
    return lambda facts: discovery_document(facts) | change(facts)


def not_announcing(*names: str) -> Callable[[DiscoveryFacts], JsonObject]:
    return lambda facts: lacking(discovery_document(facts), *names)


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
    """A flag that says whether to make the key set anew is turned over, where it should be set."""
    if len(core.retired) % 2:
        *before, last = core.retired
        core = replace(core, current=last.key, retired=tuple(before))
    return live_core_keys(core, now)


def emptied_by_a_rotation(core: KeyRing, now: float, _own: tuple[SigningKey, ...]) -> tuple[SigningKey, ...]:
    """The key set is made anew from a list that the rotation has read to its end."""
    return () if core.retired else live_core_keys(core, now)


def with_a_namesake(core: KeyRing, now: float, own: tuple[SigningKey, ...]) -> tuple[SigningKey, ...]:
    """A standby key under the name of the one in use."""
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
        "discovery-answers-203 (DISC-01 REDEEM-01): The discovery document comes with a status other than "
        "200.",
        discovery_status=203,
    ),
    defect(
        "issuer-per-resource (DISC-02 CLAIM-01 CLAIM-11 REDEEM-01): The document names the "
        "per-Resource authorization server as the issuer, while tokens name the core.",
        discovery_document=announcing(lambda facts: {"issuer": facts.authorization_server}),
    ),
    defect(
        "issuer-left-out (DISC-02 CLAIM-01 REDEEM-01): The document has no issuer.",
        discovery_document=not_announcing("issuer"),
    ),
    defect(
        "issuer-empty (DISC-02 CLAIM-01 REDEEM-01): The issuer is an empty string: its setting was never "
        "made.",
        discovery_document=announcing(lambda _: {"issuer": ""}),
    ),
    defect(
        "authorization-endpoint-without-resource (DISC-03 REDEEM-01): The authorization endpoint lacks the "
        "Resource ID.",
        discovery_document=announcing(
            lambda facts: {"authorization_endpoint": f"{facts.base_url}/oauth2/auth"}
        ),
    ),
    defect(
        "authorization-endpoint-on-core (DISC-03 REDEEM-01): The authorization endpoint is announced on the "
        "core host.",
        discovery_document=announcing(
            lambda facts: {"authorization_endpoint": f"{facts.core_url}/{facts.resource.id}/oauth2/auth"}
        ),
    ),
    defect(
        "token-endpoint-on-base (DISC-04 REDEEM-01): The token endpoint is announced on the gateway API "
        "host, below the Resource.",
        discovery_document=announcing(
            lambda facts: {"token_endpoint": f"{facts.authorization_server}/oauth2/token"}
        ),
    ),
    defect(
        "token-endpoint-with-another-path (DISC-04 REDEEM-01): The token endpoint is announced under a path "
        "of an older version.",
        discovery_document=announcing(lambda facts: {"token_endpoint": f"{facts.core_url}/oauth/token"}),
    ),
    defect(
        "jwks-uri-of-the-resource (DISC-05 KEYS-01 KEYS-02 KEYS-03 KEYS-04 CLAIM-11 REDEEM-01): The "
        "document points to the Resource's own key set.",
        discovery_document=announcing(lambda facts: {"jwks_uri": f"{facts.authorization_server}/jwks"}),
    ),
    defect(
        "jwks-uri-differs-between-resources (DISC-05): Every Resource announces the core key set under an "
        "address of its own.",
        discovery_document=announcing(
            lambda facts: {"jwks_uri": f"{facts.core_url}/jwks?resource={facts.resource.id}"}
        ),
    ),
    defect(
        "registration-endpoint-left-out (DISC-06 REDEEM-01): The registration endpoint is announced nowhere.",
        discovery_document=not_announcing("registration_endpoint"),
    ),
    defect(
        "registration-endpoint-on-core (DISC-06 REDEEM-01): The registration endpoint is announced on the "
        "core host, where there is none.",
        discovery_document=announcing(
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
        "key-set-under-another-name (KEYS-01 KEYS-02 KEYS-03 KEYS-04 CLAIM-11 REDEEM-01): The core key set "
        "calls its array `jwks`.",
        core_key_set=lambda jwks: {"jwks": jwks},
    ),
    defect(
        "key-coordinates-swapped (KEYS-01 KEYS-02 KEYS-03 KEYS-04 KEYS-05 CLAIM-11 REDEEM-01): The "
        "published key has its coordinates the wrong way round.",
        core_jwk=swapped,
    ),
    defect(
        "one-key-set-for-all (KEYS-02 KEYS-03): The Resource's key set shows the core's keys too.",
        resource_keys_shown=lambda core, own: (own, core.current),
    ),
    defect(
        "access-tokens-under-the-resources-key (KEYS-02 REDEEM-01 REDEEM-02 REDEEM-03 REDEEM-04 REDEEM-05 "
        "KEYS-04): Access tokens are signed with the Resource's own key, which the core key set shows as "
        "well.",
        access_token_key=lambda _core, own: own,
        core_keys_shown=lambda core, now, own: (*live_core_keys(core, now), *own),
    ),
    defect(
        "access-tokens-under-the-resources-key-alone (KEYS-02 KEYS-01 KEYS-03 KEYS-04 REDEEM-01 REDEEM-02 "
        "REDEEM-03 REDEEM-04 REDEEM-05): Access tokens are signed with the Resource's own key, which the "
        "core key set does not show.",
        access_token_key=lambda _core, own: own,
    ),
    defect(
        "short-rsa-key-in-the-core-set (KEYS-03): An RSA key of 1024 bits was left in the core key set.",
        core_key_set=lambda jwks: {"keys": [*jwks, OLD_RSA]},
    ),
    defect(
        "short-rsa-key-in-the-resource-set (KEYS-03): An RSA key of 1024 bits was left in the Resource's "
        "key set.",
        resource_key_set=lambda jwks: {"keys": [*jwks, OLD_RSA]},
    ),
    defect(
        "kid-names-no-published-key (KEYS-03 KEYS-01 KEYS-04 CLAIM-11 REDEEM-01): The key set names its "
        "keys otherwise than the tokens do.",
        core_jwk=lambda key: public_jwk(key) | {"kid": f"core-{key.kid}"},
    ),
    defect(
        "rotation-forgets-the-old-key (KEYS-04): A rotation takes the old key out of the set and out of the "
        "gateway at once.",
        core_keys_shown=lambda core, _now, _own: (core.current,),
        live_core_keys=lambda core, _now: (core.current,),
    ),
    defect(
        "rotation-unpublishes-the-old-key (KEYS-04): A rotation takes the old key out of the set, while the "
        "gateway itself still knows it.",
        core_keys_shown=lambda core, _now, _own: (core.current,),
    ),
    defect(
        "rotation-ends-redemption (KEYS-04): After a rotation the gateway itself knows the new key alone.",
        live_core_keys=lambda core, _now: (core.current,),
    ),
    defect(
        "rotation-publishes-every-other-key (KEYS-01 KEYS-04 KEYS-02 KEYS-03 CLAIM-11 REDEEM-01): Every "
        "other rotation leaves the published key set as it was.",
        core_keys_shown=made_at_every_other_rotation,
    ),
    defect(
        "rotation-empties-the-key-set (KEYS-01 KEYS-04 KEYS-02 KEYS-03 KEYS-05 CLAIM-11 REDEEM-01): After a "
        "rotation the published key set has no key.",
        core_keys_shown=emptied_by_a_rotation,
    ),
    defect(
        "keys-share-a-kid (KEYS-05 KEYS-02 KEYS-03): Two keys of the core key set have the same name.",
        core_keys_shown=with_a_namesake,
    ),
    defect(
        "key-members-padded (KEYS-05 KEYS-01 KEYS-02 KEYS-04 CLAIM-11 REDEEM-01): The coordinates in the "
        "core key set are base64url with padding.",
        core_jwk=padded,
    ),
    defect(
        "key-members-padded-in-the-resource-set (KEYS-05): The coordinates in the Resource's key set are "
        "base64url with padding.",
        resource_jwk=padded,
    ),
    defect(
        "core-private-key-published (KEYS-06): The core key set holds the private part of its key.",
        core_jwk=with_private_part,
    ),
    defect(
        "resource-private-key-published (KEYS-06): The Resource's key set holds the private part of its key.",
        resource_jwk=with_private_part,
    ),
    defect(
        "symmetric-key-published (KEYS-06): A symmetric key was put into the core key set.",
        core_key_set=lambda jwks: {"keys": [*jwks, FORGOTTEN_SECRET]},
    ),
)
DEFECTS = (*DISCOVERY, *KEYS)
