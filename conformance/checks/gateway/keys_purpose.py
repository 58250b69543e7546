"""Verifiers that select keys by `use`, `key_ops`, `alg` or `kid` find the key of a token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire.jose import verifying

# RFC 9864 names the two algorithms that EdDSA stands for.
_EDWARDS = frozenset({"EdDSA", "Ed25519", "Ed448"})


@check("KEYS-03")
def key_of_a_token_is_for_its_signature(world: World) -> None:
    """The `use`, `key_ops` and `alg` of a key that verifies an access token, if present, allow this."""
    grant = world.grant()
    keys = world.keys.core_for(grant.access_token, grant.resource)
    signers = verifying(grant.access_token.reveal(), keys)
    require.that(bool(signers), "gateway access token", expected="a key that verifies it", got="none")
    algorithm = world.jwt(grant.access_token, "gateway access token").header.get("alg")

    said = [{name: key[name] for name in ("use", "key_ops", "alg") if name in key} for key in signers]
    expect.that(
        any(_allows_verifying(key, algorithm) for key in signers),
        "key of the core key set that verifies the token",
        expected=f"use, key_ops and alg, where present, that allow verifying {algorithm}",
        got=said,
    )


@check("KEYS-03", needs=["control:rotate_keys"])
def id_token_names_its_key_among_several(world: World) -> None:
    """After a rotation, if the core key set has several keys, the header of an ID token has a `kid`."""
    world.keys.rotate()
    grant = world.grant()
    keys = world.keys.core_for(grant.id_token, grant.resource)
    _is_verified(grant, keys)
    if len(keys) < 2:
        raise LeftOut("the core key set has one key only")

    kid = world.jwt(grant.id_token, "ID token").header.get("kid")
    expect.that(isinstance(kid, str), "kid in the header of the ID token", expected="a string", got=kid)


def _is_verified(grant: Grant, keys: list[dict[str, Any]]) -> None:
    signers = verifying(grant.id_token.reveal(), keys)
    require.that(bool(signers), "ID token", expected="a key that verifies it", got="none")


def _allows_verifying(key: Mapping[str, Any], algorithm: object) -> bool:
    operations = key.get("key_ops")
    alike = key.get("alg") in (None, algorithm) or {key.get("alg"), algorithm} <= _EDWARDS
    verifies = operations is None or (isinstance(operations, list) and "verify" in operations)
    return key.get("use") in (None, "sig") and verifies and alike
