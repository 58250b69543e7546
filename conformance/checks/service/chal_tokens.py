"""Tokens with one fault that a service must refuse."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from gateproof.conformance.checks.service._altered_tokens import USER, expired, good_token, refused
from gateproof.conformance.checks.service._expiring import (
    refused_in_a_session_once_expired,
    refused_once_expired,
)
from gateproof.conformance.kit.inputs.near_indicators import NEAR_MISSES
from gateproof.conformance.kit.service.mcp_session import session_of
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.suite.time_limits import SERVICE_LEEWAY_S
from gateproof.conformance.wire.decoy_server import decoy_server
from gateproof.conformance.wire.forgery import FORGERIES, KEY_URL_FORGERIES, Forgery, Original, original
from gateproof.fakes.gateway.keys import new_key, signed

_CHANGE = Callable[[ServiceWorld, Service], Any]
# Issuers that an incomplete comparison of URLs accepts as the right one.
_NEAR = (
    *("double-slash", "dot-segment", "dot-dot-segment", "percent-encoded-letter"),
    *("user-info", "question-mark", "query", "fragment"),
)


def _nearly(case: Callable[[str], str], world: ServiceWorld, _: Service) -> str:
    return case(world.gateway.issuer)


ISSUERS: dict[str, _CHANGE] = {
    "missing": lambda _world, _: None,
    "empty": lambda _world, _: "",
    "with-a-slash": lambda world, _: f"{world.gateway.issuer}/",
    "upper-case": lambda world, _: world.gateway.issuer.upper(),
    "another-scheme": lambda world, _: _other_scheme(world.gateway.issuer),
    "another-port": lambda world, _: _at(world.gateway.issuer, "1"),
    "the-core-host": lambda world, _: world.gateway.addresses.core_url,
    "longer": lambda world, _: f"{world.gateway.issuer}.evil.example",
    "a-longer-host": lambda world, _: _at(world.gateway.issuer, ".evil.example"),
    "longer-path": lambda world, _: f"{world.gateway.issuer}/evil",
    "shorter": lambda world, _: world.gateway.issuer[:-1],
    "the-authorization-server": lambda world, _: world.gateway.authorization_server,
    "the-api-host": lambda world, _: world.gateway.addresses.base_url,
    "another-host": lambda _world, _: "https://evil.example",
    "the-service": lambda _world, service: service.service_url,
    "as-a-list": lambda world, _: [world.gateway.issuer],
    "a-space-behind": lambda world, _: f"{world.gateway.issuer} ",
    "scheme-and-host-in-upper-case": lambda world, _: _with_upper_case_ahead(world.gateway.issuer),
    "port-in-other-digits": lambda world, _: _with_another_port(world.gateway.issuer),
    **{name: partial(_nearly, NEAR_MISSES[name]) for name in _NEAR},
}
EXPIRIES: dict[str, Callable[[float], Any]] = {
    "missing": lambda _: None,
    "two-minutes-ago": lambda now: int(now) - 2 * SERVICE_LEEWAY_S,
    "an-hour-ago": lambda now: int(now) - 3600,
    "in-1970": lambda _: 0,
    "below-zero": lambda _: -1,
    "an-hour-ago-as-text": lambda now: str(int(now) - 3600),
    "in-1970-as-text": lambda _: "1",
    # As a number in JavaScript, neither before nor after any moment.
    "as-a-word": lambda _: "never",
}


@check("CHAL-04", cases={**FORGERIES, **KEY_URL_FORGERIES})
def forged_token_gets_the_challenge(service: Service, world: ServiceWorld, case: Forgery) -> None:
    """A token with a forged signature or header gets the challenge."""
    good = good_token(service, world)
    with decoy_server(world.gateway.core_key.algorithm) as where:
        forged = case(_original(world, good, where))
        if forged is None:
            raise LeftOut(f"there is no such forgery for {world.gateway.core_key.algorithm}")
        refused(service, world, forged)


@check("CHAL-04", cases=("under-its-own-kid", "under-the-cores-kid", "without-kid"))
def token_under_the_resources_key_gets_the_challenge(
    service: Service, world: ServiceWorld, case: str
) -> None:
    """A token signed with the Resource's own key, which is for the merchant, gets the challenge."""
    good_token(service, world)
    gateway = world.gateway
    kid = {"under-its-own-kid": gateway.resource_key.kid, "under-the-cores-kid": gateway.core_key.kid}.get(
        case
    )

    refused(service, world, signed(gateway.claims(USER), gateway.resource_key, kid=kid))


@check("CHAL-04", cases=("ES256", "RS256", "EdDSA"))
def token_under_an_unknown_key_gets_the_challenge(service: Service, world: ServiceWorld, case: str) -> None:
    """A token under a key that is in no key set of the gateway gets the challenge."""
    good_token(service, world)

    refused(service, world, signed(world.gateway.claims(USER), new_key(case)))


@check("CHAL-05", cases=ISSUERS)
def token_of_another_issuer_gets_the_challenge(service: Service, world: ServiceWorld, case: _CHANGE) -> None:
    """A token whose `iss` differs from the core's, even slightly, gets the challenge."""
    good_token(service, world)

    refused(service, world, world.gateway.access_token(USER, iss=case(world, service)))


@check("CHAL-07", cases=EXPIRIES)
def expired_token_gets_the_challenge(
    service: Service, world: ServiceWorld, case: Callable[[float], Any]
) -> None:
    """A token after its `exp`, or without one, gets the challenge."""
    good_token(service, world)

    refused(service, world, world.gateway.access_token(USER, exp=case(time.time())))


@check("CHAL-07")
def expiry_of_null_is_none(service: Service, world: ServiceWorld) -> None:
    """A token with `exp` null gets the challenge, like one without `exp`."""
    gateway = world.gateway
    good_token(service, world)

    refused(service, world, signed({**gateway.claims(USER), "exp": None}, gateway.core_key))


@check("CHAL-07")
def token_that_was_accepted_before_expires_all_the_same(service: Service, world: ServiceWorld) -> None:
    """A token that was accepted gets the challenge after it has expired, plus the clock leeway.

    Over MCP the same holds for another token in the session that was started with it. The first refusal of a
    token is judged; a service may refuse it in another way when it comes again.
    """
    gateway, over_mcp = world.gateway, service.operation.kind == "mcp"
    good_token(service, world)
    # Long enough to be served and to start a session, also on a slow machine.
    exp = int(time.time()) + (5 if over_mcp else 4)
    token, kept = (gateway.access_token(USER, exp=exp) for _ in range(2))
    require_served(service.serve(token), gateway.orders_of(USER))
    # A server that allows each user one session has ended that of the call before.
    session = session_of(service, kept) if over_mcp else None
    if session is not None:
        require_served(session.call(kept), gateway.orders_of(USER))
    stale = partial(service.serve, expired(world))

    if session is not None:
        refused_in_a_session_once_expired(partial(session.call, kept), exp, stale)
    refused_once_expired(partial(service.serve, token), exp, stale)


@check("CHAL-08")
def id_token_gets_the_challenge(service: Service, world: ServiceWorld) -> None:
    """The user's ID token, correctly signed by the core, gets the challenge."""
    gateway = world.gateway
    good_token(service, world)
    person = {"name": "alice", "email": "alice@merchant.example", "nonce": "n", "auth_time": int(time.time())}
    claims = gateway.claims(USER, aud=["agent_1"], ext=None, scope=None, scp=None, **person)
    id_token = signed(claims, gateway.core_key)

    refused(service, world, id_token)


def _original(world: ServiceWorld, good: str, decoy_url: str) -> Original:
    gateway = world.gateway
    return original(good, gateway.core_key.jwk, resource_kid=gateway.resource_key.kid, decoy_url=decoy_url)


def _at(url: str, further: str) -> str:
    """The issuer with something appended to its host and port."""
    parts = urlsplit(url)
    return parts._replace(netloc=f"{parts.netloc}{further}").geturl()


def _with_upper_case_ahead(url: str) -> str:
    parts = urlsplit(url)
    return url.replace(f"{parts.scheme}://{parts.netloc}", f"{parts.scheme}://{parts.netloc}".upper(), 1)


def _with_another_port(url: str) -> str:
    """The same port with a leading zero, or the default port made explicit."""
    parts = urlsplit(url)
    port = f"0{parts.port}" if parts.port else {"https": "443"}.get(parts.scheme, "80")
    return parts._replace(netloc=f"{parts.netloc.removesuffix(f':{parts.port}')}:{port}").geturl()


def _other_scheme(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{'http' if scheme == 'https' else 'https'}://{rest}"
