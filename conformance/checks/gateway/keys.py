"""Key sets: who signs gateway access tokens, and what is published of it."""

from __future__ import annotations

import base64
import binascii
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gateproof.conformance.checks.gateway._renewed import renewed
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.isolated_user import still_good
from gateproof.conformance.kit.gateway.valid_tokens import redeemable
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require, rule_requires
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire.jose import keys_of, verifying

KEY_SETS = ("core", "resource")
# So close to its end a token is none to ask about.
SOON_S = 5.0
_PRIVATE = ("d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv")
_CURVES = {"P-256": 32, "P-384": 48, "P-521": 66, "secp256k1": 32}
_OKP = {"Ed25519": 32, "Ed448": 57, "X25519": 32, "X448": 56}


@check("KEYS-01")
def jwks_uri_serves_a_key_set(gateway: Gateway, world: World) -> None:
    """The announced address answers with a JWK Set that holds keys."""
    jwks_uri = require.text(world.discovery(world.projects.home().resource).get("jwks_uri"), "jwks_uri")
    answer = gateway.fetch(world.gateway.reachable(jwks_uri), "core key set")

    expect(answer).status(200)
    expect(answer).json_object()
    expect.that(bool(keys_of(answer.json())), "core key set", expected="a `keys` array of JWKs", got="no key")


@check("KEYS-01")
def access_token_verifies_with_the_core_key_set(world: World) -> None:
    """A key of the announced set verifies the token that an agent got."""
    _verifies(world, world.grant())


@check("KEYS-01", needs=["users:2"])
def access_token_of_another_user_verifies_too(world: World) -> None:
    """Every gateway access token verifies, whoever signed in."""
    _verifies(world, world.grant(user=world.users[1]))


@check("KEYS-01", needs=["two-projects"])
def access_token_of_another_project_verifies_too(world: World) -> None:
    """Every gateway access token verifies, whatever the Project."""
    _verifies(world, world.grant(resource=world.projects.another().resource))


@check("KEYS-01")
def renewed_access_token_verifies_too(world: World) -> None:
    """So does the token that a refresh gave, where OAuth's form of it is understood."""
    _verifies(world, renewed(world))


@check("KEYS-02")
def access_token_does_not_verify_with_the_resources_own_keys(world: World) -> None:
    """The Resource's own key set signs assertions for the merchant, and no access token."""
    _does_not_verify_with_the_resources_own_keys(world)


@check("KEYS-02", needs=["control:rotate_keys"])
def access_token_of_a_new_key_does_not_verify_with_the_resources_own_keys(world: World) -> None:
    """So it is when the core has another signing key, which is not the Resource's either."""
    _does_not_verify_with_the_resources_own_keys(world)
    world.keys.rotate()

    _does_not_verify_with_the_resources_own_keys(world)


def _does_not_verify_with_the_resources_own_keys(world: World) -> None:
    grant = world.grant()
    token = grant.access_token.reveal()
    require.that(
        bool(verifying(token, world.keys.core(grant.resource))),
        "gateway access token",
        expected="a signature that verifies with the core key set",
        got="none of its keys verifies it",
    )
    own = world.keys.at(grant.resource.jwks_uri, "key set of the Resource")

    expect.that(
        not verifying(token, own),
        "gateway access token",
        expected="no key of the Resource's own key set verifies it",
        got="one does",
    )


@check("KEYS-03", cases=KEY_SETS)
def rsa_keys_have_2048_bits(world: World, case: str) -> None:
    """No RSA key is shorter than 2048 bits."""
    short = [bits for key in _keys(world, case) if (bits := _rsa_bits(key)) is not None and bits < 2048]

    expect.that(not short, f"{case} key set", expected="RSA keys of 2048 bits or more", got=f"{short} bits")


@check("KEYS-03")
def kid_of_a_token_matches_one_key(world: World) -> None:
    """A token that names its key names exactly one, and that one signed it."""
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
    """A token under a new key names that one, and neither the one that signed before nor both."""
    world.keys.rotate()
    grant = world.grant()
    kid, matching = _named(world, grant)

    # That the key set has the new key at all is for KEYS-04 to say.
    expect.that(
        kid is None or len(matching) < 2,
        "kid in the header of a token from after a rotation",
        expected="one key of the core key set, and no other",
        got=f"{len(matching)} keys",
    )
    _signed_by(grant, matching)


@check("KEYS-04")
def tokens_from_before_a_rotation_still_verify(world: World) -> None:
    """A new signing key does not take the old one out of the key set while its tokens live; nor do two."""
    grant = world.grant()
    end = time.monotonic() + world.clock.life_s(grant.access_token, grant.answer)
    _verified_by(world, grant)

    for _ in range(2):
        world.keys.rotate()
        if time.monotonic() > end - SOON_S:
            # Where tokens live for a minute and a rotation takes half of one, the key may go with its token.
            raise LeftOut("the gateway access token expired before the keys were rotated again")
        with rule_requires():
            _verifies(world, grant)


@check("KEYS-04")
def tokens_from_before_a_rotation_still_redeem(gateway: Gateway, world: World) -> None:
    """A new signing key does not break the tokens that agents hold; nor does the next."""
    grant, proxy_token = world.grant(), world.backend.proxy_token()
    world.backend.require_redeemed(grant, proxy_token)

    for _ in range(2):
        world.keys.rotate()
        answer = gateway.redeem(grant.access_token, proxy_token, grant.resource.indicator)
        still_good(world, grant, answer)
        expect(answer).status(200)


@check("KEYS-04")
def tokens_from_after_a_rotation_verify(world: World) -> None:
    """New tokens are signed with the new key, and the key set has it; and again after the next rotation."""
    world = world.in_one_browser()
    before = world.grant()
    if not world.standing.core_keys:
        # A set that never had a key is for other rules; one that an earlier rotation emptied is for this.
        world.keys.core(before.resource)
    for _ in range(2):
        world.keys.rotate()
        with rule_requires():
            after = world.grant()
            keys = world.keys.core(after.resource)
        signers = [verifying(grant.access_token.reveal(), keys) for grant in (before, after)]
        require.that(
            not signers[0] or signers[0] != signers[1],
            "signing key after rotate_keys",
            expected="a new one",
            got="the old one",
        )

        _verifies(world, after)
        before = after


@check("KEYS-05", cases=KEY_SETS)
def kids_are_distinct(world: World, case: str) -> None:
    """No two keys of a kind share a `kid`."""
    _distinct_kids(_keys(world, case), f"{case} key set")


@check("KEYS-05", needs=["control:rotate_keys"])
def kids_are_distinct_after_a_rotation(world: World) -> None:
    """A new signing key has a name of its own."""
    world.keys.rotate()

    _distinct_kids(_keys(world, "core"), "core key set after a rotation")


@check("KEYS-05", cases=KEY_SETS)
def members_are_well_formed(world: World, case: str) -> None:
    """The members of every key of a known type are what RFC 7518 and RFC 8037 say."""
    faults = [fault for key in _keys(world, case) if (fault := _malformed(key))]

    expect.that(not faults, f"{case} key set", expected="well-formed JWKs", got="; ".join(faults))


@check("KEYS-06", cases=KEY_SETS)
def nothing_private_is_published(world: World, case: str) -> None:
    """A key set holds public keys and nothing else: a published signing key voids every other rule."""
    _public_alone(world, case)


@check("KEYS-06", cases=KEY_SETS)
def nothing_private_is_published_of_a_key_in_use(world: World, case: str) -> None:
    """Nor does it once its keys have signed an agent's tokens, and what the merchant was told."""
    redeemable(world)

    _public_alone(world, case)


@check("KEYS-06", needs=["control:rotate_keys"])
def nothing_private_is_published_after_a_rotation(world: World) -> None:
    """A key that has been rotated out is as private as before: tokens under it still count."""
    world.keys.rotate()

    for which in KEY_SETS:
        _public_alone(world, which)


def _public_alone(world: World, which: str) -> None:
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
    """The `kid` in the token's header, and the keys of the core key set that have it."""
    kid = world.jwt(grant.access_token, "gateway access token").header.get("kid")
    return kid, [key for key in world.keys.core(grant.resource) if kid is not None and key.get("kid") == kid]


def _signed_by(grant: Grant, named: Sequence[Mapping[str, Any]]) -> None:
    """Whoever looks a key up by its name has to find the one that signed."""
    expect.that(
        not named or bool(verifying(grant.access_token.reveal(), named)),
        "kid in the token's header",
        expected="the name of the key that signed the token",
        got="that of a key which does not verify it",
    )


def _verifies(world: World, grant: Grant) -> None:
    keys = world.keys.core(grant.resource)
    header = world.jwt(grant.access_token, "gateway access token").header
    expect.that(
        bool(verifying(grant.access_token.reveal(), keys)),
        "gateway access token",
        expected=f"a signature that verifies with one of the {len(keys)} keys of the core key set",
        got=f"none of them verifies it (alg {header.get('alg')})",
    )


def _verified_by(world: World, grant: Grant) -> object:
    """The public part of the key that verifies the grant's access token."""
    found = verifying(grant.access_token.reveal(), world.keys.core(grant.resource))
    require.that(
        bool(found), "gateway access token", expected="a signature that verifies", got="no key verifies it"
    )
    return {name: value for name, value in found[0].items() if name in {"n", "x", "y"}}


def _rsa_bits(key: Mapping[str, Any]) -> int | None:
    if key.get("kty") != "RSA":
        return None
    modulus = _decoded(key.get("n"))
    return None if modulus is None else int.from_bytes(modulus).bit_length()


def _malformed(key: Mapping[str, Any]) -> str:
    """What is wrong with a JWK; keys of an unknown type are not judged."""
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
    for name, length in wanted.items():
        octets = _decoded(key.get(name))
        if octets is None:
            return f"{kty} member {name} is not unpadded base64url"
        if length is not None and len(octets) != length:
            return f"{kty} member {name} has {len(octets)} octets instead of {length}"
    return ""


def _decoded(value: object) -> bytes | None:
    """The octets of an unpadded base64url string, or None when it is not one."""
    if not isinstance(value, str) or not value or set(value) & set("=+/ \n"):
        return None
    try:
        return base64.b64decode(value + "=" * (-len(value) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        return None
