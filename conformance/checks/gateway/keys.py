"""Key sets: which key signs gateway access tokens, and what is published."""

from __future__ import annotations

import base64
import binascii
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from gateproof.conformance.checks.gateway._refreshed_tokens import reused_refreshed_grant
from gateproof.conformance.checks.gateway._signatures import expect_verified, require_verified
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.isolated_user import require_unexpired
from gateproof.conformance.kit.gateway.valid_tokens import valid_tokens
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unmet, expect, require, rule_requires
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire.jose import keys_of, verifying

KEY_SETS = ("core", "resource")
# A token this close to its expiry is not used.
SOON_S = 5.0
# More than a gateway keeps that has places for a fixed number of keys.
ROTATIONS = 5
_PRIVATE = ("d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv")
_CURVES = {"P-256": 32, "P-384": 48, "P-521": 66, "secp256k1": 32}
_OKP = {"Ed25519": 32, "Ed448": 57, "X25519": 32, "X448": 56}


@check("KEYS-01")
def jwks_uri_serves_a_key_set(gateway: Gateway, world: World) -> None:
    """jwks_uri serves a JWK Set with keys in it."""
    jwks_uri = require.text(world.discovery(world.projects.home().resource).get("jwks_uri"), "jwks_uri")
    answer = gateway.fetch(world.gateway.reachable(jwks_uri), "core key set")

    expect(answer).status(200)
    expect(answer).json_object()
    expect.that(bool(keys_of(answer.json())), "core key set", expected="a `keys` array of JWKs", got="no key")


@check("KEYS-01")
def access_token_verifies_with_the_core_key_set(world: World) -> None:
    """A key of the core key set verifies an agent's access token."""
    expect_verified(world, world.grant())


@check("KEYS-01", needs=["users:2"])
def access_token_of_another_user_verifies_too(world: World) -> None:
    """A key of the core key set verifies the access token of a second user."""
    expect_verified(world, world.grant(user=world.users[1]))


@check("KEYS-01", needs=["two-projects"])
def access_token_of_another_project_verifies_too(world: World) -> None:
    """A key of the core key set verifies an access token of another Project."""
    expect_verified(world, world.grant(resource=world.projects.another().resource))


@check("KEYS-01")
def renewed_access_token_verifies_too(world: World) -> None:
    """A key of the core key set verifies an access token from a refresh, if refresh is supported."""
    expect_verified(world, reused_refreshed_grant(world))


@check("KEYS-03", cases=KEY_SETS)
def rsa_keys_have_2048_bits(world: World, case: str) -> None:
    """Every RSA key has 2048 bits or more."""
    short = [bits for key in _keys(world, case) if (bits := _rsa_bits(key)) is not None and bits < 2048]

    expect.that(not short, f"{case} key set", expected="RSA keys of 2048 bits or more", got=f"{short} bits")


@check("KEYS-03")
def kid_of_a_token_matches_one_key(world: World) -> None:
    """A `kid` in a token names exactly one key of the core key set, the one that signed it."""
    grant = world.grant()
    kid, matching = _named(world, grant)

    expect.that(
        kid is None or len(matching) == 1,
        "kid in the token's header",
        expected="exactly one key of the core key set",
        got=f"{len(matching)} keys",
    )
    _signed_by(grant, matching)


@check("KEYS-03", needs=["control:rotate_keys"])
def kid_of_a_token_matches_no_two_keys_after_a_rotation(world: World) -> None:
    """After a key rotation, the `kid` of a new token names at most one key, the one that signed it."""
    world.keys.rotate()
    grant = world.grant()
    kid, matching = _named(world, grant)

    # KEYS-01 tests that the key set has the new key at all.
    expect.that(
        kid is None or len(matching) < 2,
        "kid in the header of a token from after a rotation",
        expected="one key of the core key set, and no other",
        got=f"{len(matching)} keys",
    )
    _signed_by(grant, matching)


@check("KEYS-04")
def tokens_from_before_a_rotation_still_verify(world: World) -> None:
    """Tokens from before one to five key rotations still verify until they expire."""
    world = world.in_one_browser()
    grant = world.grant()
    end = time.monotonic() + world.clock.life_s(grant.access_token, grant.answer)
    require_verified(world, grant)

    for _ in range(ROTATIONS):
        world.keys.rotate()
        _wait_for_the_new_key(world)
        if time.monotonic() > end - SOON_S:
            # A short-lived token may expire during the rotations; then the gateway may remove its key.
            raise LeftOut("the gateway access token expired before the keys were rotated again")
        with rule_requires():
            keys = world.keys.core(grant.resource)
        expect.that(
            bool(verifying(grant.access_token.reveal(), keys)),
            "gateway access token from before a rotation",
            expected=f"a signature that verifies with one of the {len(keys)} keys of the core key set",
            got="none of them verifies it",
        )


@check("KEYS-04")
def tokens_from_before_a_rotation_still_redeem(gateway: Gateway, world: World) -> None:
    """Tokens from before one to five key rotations still redeem."""
    grant, proxy_token = world.grant(), world.backend.proxy_token()
    world.backend.require_redeemed(grant, proxy_token)

    for _ in range(ROTATIONS):
        world.keys.rotate()
        answer = gateway.redeem(grant.access_token, proxy_token, grant.resource.indicator)
        require_unexpired(world, grant, answer)
        expect(answer).status(200)


@check("KEYS-05", cases=KEY_SETS)
def kids_are_distinct(world: World, case: str) -> None:
    """No two keys of a key set have the same `kid`."""
    _distinct_kids(_keys(world, case), f"{case} key set")


@check("KEYS-05", needs=["control:rotate_keys"])
def kids_are_distinct_after_a_rotation(world: World) -> None:
    """After a key rotation, no two keys of the core key set have the same `kid`."""
    world.keys.rotate()

    _distinct_kids(_keys(world, "core"), "core key set after a rotation")


@check("KEYS-05", cases=KEY_SETS)
def members_are_well_formed(world: World, case: str) -> None:
    """The members of every key of a known type are well-formed by RFC 7518 and RFC 8037."""
    faults = [fault for key in _keys(world, case) if (fault := _malformed(key))]

    expect.that(not faults, f"{case} key set", expected="well-formed JWKs", got="; ".join(faults))


@check("KEYS-06", cases=KEY_SETS)
def nothing_private_is_published(world: World, case: str) -> None:
    """A key set contains public members only."""
    _public_members_only(world, case)


@check("KEYS-06", cases=KEY_SETS)
def nothing_private_is_published_of_a_key_in_use(world: World, case: str) -> None:
    """A key set contains public members only, also after its keys have signed tokens and assertions."""
    valid_tokens(world)

    _public_members_only(world, case)


@check("KEYS-06", needs=["control:rotate_keys"])
def nothing_private_is_published_after_a_rotation(world: World) -> None:
    """After a key rotation, the key sets contain public members only."""
    world.keys.rotate()

    for which in KEY_SETS:
        _public_members_only(world, which)


def _wait_for_the_new_key(world: World) -> None:
    """Waits until the core key set has the new key: a cached set may hold only the old one."""
    after = world.grant()
    with suppress(Unmet):
        world.keys.core_for(after.access_token, after.resource)


def _public_members_only(world: World, which: str) -> None:
    members = sorted({name for key in _keys(world, which) for name in _PRIVATE if key.get(name)})
    expect.that(
        not members,
        f"{which} key set",
        expected="public members only",
        got=f"private members {', '.join(members)}",
    )


def _distinct_kids(keys: Iterable[Mapping[str, Any]], which: str) -> None:
    counts = Counter((str(key.get("kty")), key["kid"]) for key in keys if isinstance(key.get("kid"), str))
    doubled = [kid for (_, kid), count in counts.items() if count > 1]
    expect.that(not doubled, which, expected="distinct kids", got=f"{len(doubled)} used twice")


def _keys(world: World, which: str) -> list[dict[str, Any]]:
    resource = world.projects.home().resource
    if which == "core":
        return world.keys.core(resource)
    return world.keys.at(resource.jwks_uri, "key set of the Resource")


def _named(world: World, grant: Grant) -> tuple[object, list[dict[str, Any]]]:
    """The `kid` in the token's header, and the keys of the core key set with that `kid`."""
    kid = world.jwt(grant.access_token, "gateway access token").header.get("kid")
    keys = world.keys.core_for(grant.access_token, grant.resource)
    return kid, [key for key in keys if kid is not None and key.get("kid") == kid]


def _signed_by(grant: Grant, named: Sequence[Mapping[str, Any]]) -> None:
    """A lookup by `kid` must find the key that signed the token."""
    expect.that(
        not named or bool(verifying(grant.access_token.reveal(), named)),
        "kid in the token's header",
        expected="the name of the key that signed the token",
        got="that of a key which does not verify it",
    )


def _rsa_bits(key: Mapping[str, Any]) -> int | None:
    if key.get("kty") != "RSA":
        return None
    modulus = _decoded(key.get("n"))
    return None if modulus is None else int.from_bytes(modulus).bit_length()


def _malformed(key: Mapping[str, Any]) -> str:
    """What is wrong with a JWK, or an empty string; keys of an unknown type are skipped."""
    kty, crv = key.get("kty"), key.get("crv")
    if not isinstance(kty, str):
        return "a key without kty"
    if kty == "RSA":
        wanted: dict[str, int | None] = {"n": None, "e": None}
    elif kty == "EC":
        if not isinstance(crv, str) or crv not in _CURVES:
            return f"an EC key with crv {crv!r}"
        wanted = {"x": _CURVES[crv], "y": _CURVES[crv]}
    elif kty == "OKP":
        if not isinstance(crv, str) or crv not in _OKP:
            return f"an OKP key with crv {crv!r}"
        wanted = {"x": _OKP[crv]}
    else:
        return ""
    faults = (_fault_of(kty, name, _decoded(key.get(name)), length) for name, length in wanted.items())
    return next(filter(None, faults), "")


def _fault_of(kty: str, name: str, octets: bytes | None, length: int | None) -> str:
    if octets is None:
        return f"{kty} member {name} is not unpadded base64url"
    if length is not None and len(octets) != length:
        return f"{kty} member {name} has {len(octets)} octets instead of {length}"
    if kty == "RSA" and octets.startswith(b"\0"):
        return f"{kty} member {name} begins with an octet of zeros"
    return ""


def _decoded(value: object) -> bytes | None:
    """The octets of an unpadded base64url string, or None for any other string."""
    if not isinstance(value, str) or not value or set(value) & set("=+/ \n"):
        return None
    try:
        return base64.b64decode(value + "=" * (-len(value) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        return None
