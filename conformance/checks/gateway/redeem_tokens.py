"""Redemption with forged, expired or wrong tokens."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.valid_tokens import valid_tokens
from gateproof.conformance.kit.gateway.worker_state import ValidTokens
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.inputs.near_tokens import (
    changed,
    changed_at_the_end,
    cut_short,
    in_other_case,
    longer,
    twice,
)
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, attach, expect, require
from gateproof.conformance.suite.parties import ProxyClient
from gateproof.conformance.suite.time_limits import LEEWAY_S
from gateproof.conformance.wire.decoy_server import decoy_server
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.forgery import (
    FORGERIES,
    KEY_URL_FORGERIES,
    Forgery,
    Original,
    claiming,
    foreign,
    original,
    unsigned,
)
from gateproof.conformance.wire.jose import read, verifying
from gateproof.conformance.wire.secret import Secret

# For access tokens that live longer, the clock would move too far for other checks.
LONGEST_LIFE_S = 90 * 86_400


# Each function makes an invalid value from a valid Proxy token; None if there is no such value.
NO_PROXY_TOKENS: Mapping[str, Callable[[str, ProxyClient], str | None]] = {
    "made-up": lambda token, _: secrets.token_urlsafe(len(token) * 3 // 4)[: len(token)],
    "first-character": lambda token, _: changed(token, 0),
    "a-character-inside": lambda token, _: changed(token, len(token) // 2),
    "changed-at-the-end": lambda token, _: changed_at_the_end(token),
    "last-character-missing": lambda token, _: cut_short(token),
    "first-half": lambda token, _: token[: len(token) // 2],
    "two-characters-more": lambda token, _: longer(token),
    "other-case": lambda token, _: in_other_case(token),
    "twice": lambda token, _: twice(token),
    "client-id": lambda _, client: client.id,
    "client-secret": lambda _, client: client.secret.reveal(),
    "basic-credentials": lambda _, client: base64.b64encode(
        f"{client.id}:{client.secret.reveal()}".encode()
    ).decode(),
    "wildcard": lambda _token, _client: "%",
    "null": lambda _token, _client: "null",
}

PROXY_FORGERIES: Mapping[str, Forgery] = {
    "alg-none": unsigned("none"),
    "altered-payload": claiming(lambda claims: {**claims, "exp": 4_102_444_800}),
    "foreign-key": foreign(lambda _: {}),
}

# Forgeries for which no key is needed.
WITHOUT_A_KEY = {name: PROXY_FORGERIES[name] for name in ("alg-none", "altered-payload")}

OF_A_PUBLIC_KEY = {
    name: FORGERIES[name]
    for name in ("hs256-by-pem", "hs256-by-der", "hs256-by-jwk", "embedded-jwk", "kid-of-an-empty-file")
}

# Other credentials that the agent, the backend or the merchant has.
OTHER_BEARERS: Mapping[str, Callable[[ValidTokens], str]] = {
    "refresh-token": lambda good: good.grant.refresh_token.reveal(),
    "agents-client-secret": lambda good: good.grant.agent.client_secret.reveal(),
    "agents-client-id": lambda good: good.grant.agent.client_id,
    "proxy-token": lambda good: good.proxy_token.reveal(),
    "made-up": lambda _: secrets.token_urlsafe(32),
    "made-up-in-three-parts": lambda _: ".".join(secrets.token_urlsafe(24) for _ in range(3)),
}


@check("REDEEM-11", cases=FORGERIES)
def forged_access_token_is_refused(gateway: Gateway, world: World, case: Forgery) -> None:
    """An access token with a changed header, claim or signature is refused."""
    good = valid_tokens(world)
    forged = case(_original(world, good))
    if forged is None:
        raise LeftOut("this forgery does not exist for the gateway's type of key")

    _refused(_with_bearer(gateway, good, forged))


@check("REDEEM-11", cases=KEY_URL_FORGERIES)
def access_token_that_says_where_its_key_is_is_refused(gateway: Gateway, world: World, case: Forgery) -> None:
    """A forged access token whose header points to a URL with the forger's key is refused."""
    good = valid_tokens(world)
    taken_apart = _original(world, good)
    with decoy_server(taken_apart.algorithm) as decoy_url:
        forged = case(replace(taken_apart, decoy_url=decoy_url))

        _refused(_with_bearer(gateway, good, forged or ""))


@check("REDEEM-11", cases=OTHER_BEARERS)
def other_credential_is_no_access_token(
    gateway: Gateway, world: World, case: Callable[[ValidTokens], str]
) -> None:
    """Another credential in place of the access token is refused."""
    good = valid_tokens(world)
    other = case(good)

    _refused(_with_bearer(gateway, good, other))


@check("REDEEM-11", needs=["merchant"])
def gateways_own_assertion_is_no_access_token(gateway: Gateway, world: World) -> None:
    """An assertion that the gateway signed for the merchant is refused as an access token.

    The merchant has these assertions. If they were accepted, every merchant could act as its users.
    """
    good = valid_tokens(world)
    for assertion in _assertions(world, good):
        _refused(_with_bearer(gateway, good, assertion))


@check("REDEEM-11", needs=["merchant"])
def merchants_own_token_is_no_access_token(gateway: Gateway, world: World) -> None:
    """The user's merchant token is refused as an access token."""
    good = valid_tokens(world)
    answer = world.backend.require_redeemed(good.grant, good.proxy_token)
    token = require.text(answer.member("access_token"), "access_token of the redemption")

    _refused(_with_bearer(gateway, good, token))


@check("REDEEM-11", needs=["control:advance_clock"])
def expired_access_token_is_refused(gateway: Gateway, world: World) -> None:
    """An expired access token is refused; a new one of the same user redeems."""
    agent = world.agents.new()
    grant = world.grant(agent=agent)
    world.backend.require_redeemed(grant, world.backend.proxy_token())
    exp = world.jwt(grant.access_token, "gateway access token").claims.get("exp")
    seconds = exp if isinstance(exp, int | float) and not isinstance(exp, bool) else 0
    left = seconds - world.clock.target_time(grant.answer)
    require.that(0 < left < LONGEST_LIFE_S, "exp", expected="a time that can be moved to", got=exp)
    world.clock.advance(round(left) + LEEWAY_S)
    fresh = world.grant(agent=agent)
    proxy_token = world.backend.proxy_token()
    world.backend.require_redeemed(fresh, proxy_token)

    _refused(gateway.redeem(grant.access_token, proxy_token, grant.resource.indicator))


@check("REDEEM-11", cases=NO_PROXY_TOKENS)
def unknown_proxy_token_is_refused(
    gateway: Gateway, world: World, case: Callable[[str, ProxyClient], str | None]
) -> None:
    """An altered or made-up Proxy token, or another credential in its place, is refused."""
    good = valid_tokens(world)
    wrong = case(good.proxy_token.reveal(), world.projects.home().proxy_client)
    if wrong is None:
        raise LeftOut("the case of letters may mean nothing in this Proxy token")

    _refused(_with_proxy_token(gateway, good, wrong))


@check("REDEEM-11", cases=WITHOUT_A_KEY)
def proxy_token_under_a_shared_key_is_not_believed_without_it(
    gateway: Gateway, world: World, case: Forgery
) -> None:
    """A Proxy token that is a JWT with a shared secret is refused with a wrong or missing signature."""
    good = valid_tokens(world)
    parsed = read(good.proxy_token.reveal())
    if parsed is None or not str(parsed.header["alg"]).startswith("HS"):
        raise LeftOut("the Proxy token is not a JWT under a shared key")
    forged = case(original(good.proxy_token.reveal(), {}))

    _refused(_with_proxy_token(gateway, good, forged or ""))


@check("REDEEM-11", cases=PROXY_FORGERIES)
def forged_proxy_token_is_refused(gateway: Gateway, world: World, case: Forgery) -> None:
    """A Proxy token that is a JWT with a public key is refused with a wrong or missing signature."""
    good = valid_tokens(world)
    parsed = read(good.proxy_token.reveal())
    if parsed is None or not str(parsed.header["alg"]).startswith(("RS", "PS", "ES", "Ed")):
        raise LeftOut("the Proxy token is not a JWT under a public key")
    forged = case(original(good.proxy_token.reveal(), {}))

    _refused(_with_proxy_token(gateway, good, forged or ""))


@check("REDEEM-11", cases=OF_A_PUBLIC_KEY)
def proxy_token_made_of_a_public_key_is_refused(gateway: Gateway, world: World, case: Forgery) -> None:
    """A Proxy token signed with the public key as if it were a shared secret is refused."""
    good = valid_tokens(world)
    token = good.proxy_token.reveal()
    found = verifying(token, world.keys.core(good.grant.resource)) if read(token) is not None else []
    if not found:
        raise LeftOut("the Proxy token is not a JWT under a key of the core key set")
    forged = case(original(token, found[0]))
    if forged is None:
        raise LeftOut("this forgery does not exist for the gateway's type of key")

    _refused(_with_proxy_token(gateway, good, forged))


def _refused(answer: Exchange) -> None:
    expect(answer).not_granted("the merchant token", "access_token")


def _with_bearer(gateway: Gateway, good: ValidTokens, bearer: str) -> Exchange:
    parsed = read(bearer)
    if parsed is not None:
        attach(header=parsed.header, claims=parsed.claims)
    forged = gateway.keyring.secret("forged_token", bearer) if len(bearer) > 16 else Secret("forged", bearer)
    return gateway.redeem(forged, good.proxy_token, good.indicator)


def _with_proxy_token(gateway: Gateway, good: ValidTokens, proxy_token: str) -> Exchange:
    return gateway.redeem(good.grant.access_token, Secret("forged", proxy_token), good.indicator)


def _original(world: World, good: ValidTokens) -> Original:
    token = good.grant.access_token.reveal()
    found = verifying(token, world.keys.core(good.grant.resource))
    require.that(
        bool(found), "gateway access token", expected="a key of the core key set", got="no key verifies it"
    )
    return original(token, found[0], resource_kid=_resource_kid(world, good))


def _resource_kid(world: World, good: ValidTokens) -> str | None:
    keys: list[dict[str, Any]] = world.keys.at(good.grant.resource.jwks_uri, "key set of the Resource")
    kid = keys[0].get("kid")
    return kid if isinstance(kid, str) else None


def _assertions(world: World, good: ValidTokens) -> list[str]:
    """The newest assertion of each kind that the gateway sent to the merchant for the home Resource."""
    newest: dict[str, str] = {}
    merchant, client_id = world.merchant, good.grant.resource.merchant_client_id
    if merchant is None or client_id is None:
        raise LeftOut("the harness cannot read what the gateway has sent the merchant")
    # In a long campaign, the fake merchant drops its oldest entries.
    for entry in merchant.journal(client_id, merchant.dropped()["journal"]):
        for kind in ("assertion", "subject_token", "client_assertion"):
            sent = getattr(entry, kind)
            if isinstance(sent, str):
                newest[kind] = sent
    if not newest:
        raise LeftOut("the gateway has sent the merchant no assertion")
    return list(newest.values())
