"""Other legal signing algorithms, key publications and issuers."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import cycle
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ed25519, rsa

from gateproof.reference.defects.defect import without_members
from gateproof.reference.defects.gateway.key_set_etags import of_the_content, with_etag
from gateproof.reference.deviations.replicas import alternating_key_sets
from gateproof.reference.gateway.keys import KeyRing, PrivateKey, SigningKey
from gateproof.reference.gateway.policy import key_sets
from gateproof.reference.gateway.policy.discovery import DiscoveryFacts, discovery_document
from gateproof.reference.ids import Ids
from gateproof.reference.outcomes import JsonObject
from gateproof.reference.variants.variant import variant

RSA_BITS = 2048
LATE_S = 2


def _rsa() -> PrivateKey:
    return rsa.generate_private_key(65537, RSA_BITS)


def _edwards() -> PrivateKey:
    return ed25519.Ed25519PrivateKey.generate()


def _made(algorithm: str, private: Callable[[], PrivateKey]) -> Callable[[Ids], SigningKey]:
    def new(ids: Ids) -> SigningKey:
        return SigningKey(kid=ids.identifier("key_"), private=private(), algorithm=algorithm)

    return new


def _announcing(**members: Any) -> Callable[[DiscoveryFacts], JsonObject]:
    return lambda facts: discovery_document(facts) | members


def _core_with(algorithm: str, private: Callable[[], PrivateKey]) -> dict[str, Any]:
    return {
        "new_core_key": _made(algorithm, private),
        "discovery_document": _announcing(id_token_signing_alg_values_supported=[algorithm]),
    }


def _calling_itself(issuer: str) -> dict[str, Any]:
    return {"issuer": lambda _core_url: issuer, "discovery_document": _announcing(issuer=issuer)}


def _two_seconds_late(core: KeyRing, now: float, own: tuple[SigningKey, ...]) -> tuple[SigningKey, ...]:
    keys = key_sets.core_keys_shown(core, now, own)
    late = bool(core.retired) and now < core.retired[-1].retired_at + LATE_S
    return tuple(key for key in keys if not late or key.kid != core.current.kid)


def _old_key_for_another_while() -> dict[str, Any]:
    """Publishes a new key at a rotation, and signs with it from the next rotation on."""

    def signing(core: KeyRing, _own: SigningKey) -> SigningKey:
        return core.retired[-1].key if core.retired else core.current

    def live(core: KeyRing, *_: object) -> tuple[SigningKey, ...]:
        return (core.current, *(old.key for old in core.retired))

    return {
        "access_token_key": signing,
        "id_token_key": signing,
        "live_core_keys": live,
        "core_keys_shown": live,
    }


def _bare_metadata_file(facts: DiscoveryFacts, _service: str) -> str:
    """Minimal metadata with another server and a byte order mark, which some editors write."""
    return "\ufeff" + json.dumps(
        {"authorization_servers": ["https://login.example", facts.authorization_server]}
    )


def _of_the_process() -> Callable[[bytes], str]:
    """The content's ETag, in two forms in turn."""
    turns = cycle("ab")
    return lambda body: f'"{next(turns)}-{of_the_content(body)[1:]}'


VARIANTS = (
    variant(
        "key-sets-with-an-etag: key sets have an ETag, and a request with the same one gets 304",
        **with_etag(of_the_content),
    ),
    variant(
        "key-sets-with-an-etag-by-process: each of two processes has its own ETags, and one publishes a new "
        "core key two seconds late",
        core_keys_shown=alternating_key_sets(_two_seconds_late),
        **with_etag(_of_the_process()),
    ),
    variant(
        "metadata-file-with-little-in-it: the metadata file has two authorization servers and no resource",
        metadata_file=_bare_metadata_file,
    ),
    variant("tokens-under-rs256: the core signs with RS256", **_core_with("RS256", _rsa)),
    variant("tokens-under-ps256: the core signs with PS256", **_core_with("PS256", _rsa)),
    variant("tokens-under-eddsa: the core signs with EdDSA", **_core_with("EdDSA", _edwards)),
    variant(
        "assertions-under-rs256: Resources sign their assertions with RS256",
        new_resource_key=_made("RS256", _rsa),
    ),
    variant(
        "assertions-under-eddsa: Resources sign their assertions with EdDSA",
        new_resource_key=_made("EdDSA", _edwards),
    ),
    variant(
        "issuer-with-a-path: the core issuer is a URL with a path on another host",
        **_calling_itself("https://login.example/tenants/7/"),
    ),
    variant(
        "new-key-published-a-little-late: a new core key is in the key set only two seconds after it first "
        "signs",
        core_keys_shown=_two_seconds_late,
    ),
    variant(
        "core-keys-that-say-little: the core keys have neither `use` nor `alg`",
        core_jwk=lambda key: without_members(key_sets.public_jwk(key), "use", "alg"),
    ),
    variant(
        "new-key-published-late-by-one-process: every second response with the key set has a new core key "
        "two seconds late",
        core_keys_shown=alternating_key_sets(_two_seconds_late),
    ),
    variant(
        "new-key-published-before-it-signs: a new core key signs only from the next rotation on",
        **_old_key_for_another_while(),
    ),
    variant("issuer-without-a-host: the core issuer is a URN", **_calling_itself("urn:example:core")),
)
