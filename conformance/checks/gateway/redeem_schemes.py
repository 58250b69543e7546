"""Redemption with valid tokens under a wrong scheme, and with an expired Proxy token."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import replace

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.valid_tokens import valid_tokens
from gateproof.conformance.kit.gateway.worker_state import ValidTokens
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, observe
from gateproof.conformance.wire import backend as backend_wire
from gateproof.conformance.wire.exchange import Exchange

NINETY_MINUTES_S = 5400


def _pair(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode("ascii")


# The right token in an Authorization header that is no Bearer header.
OTHER_SCHEMES: Mapping[str, Callable[[str], str]] = {
    "basic": lambda token: f"Basic {token}",
    "basic-user": lambda token: _pair(token, ""),
    "basic-password": lambda token: _pair("", token),
    "basic-password-of-a-bearer": lambda token: _pair("bearer", token),
    "basic-before-bearer": lambda token: f"Basic Bearer {token}",
    "token": lambda token: f"Token {token}",
    "token-with-a-parameter": lambda token: f'Token token="{token}"',
    "jwt": lambda token: f"JWT {token}",
    "oauth": lambda token: f"OAuth {token}",
    "dpop": lambda token: f"DPoP {token}",
    "digest": lambda token: f"Digest {token}",
    "negotiate": lambda token: f"Negotiate {token}",
    "scheme-that-begins-with-bearer": lambda token: f"BearerToken {token}",
    "scheme-that-ends-with-bearer": lambda token: f"XBearer {token}",
    "scheme-cut-short": lambda token: f"Beare {token}",
    "no-scheme": lambda token: token,
    "no-blank-behind-the-scheme": lambda token: f"Bearer{token}",
    "colon-behind-the-scheme": lambda token: f"Bearer:{token}",
}


@check("REDEEM-11", cases=OTHER_SCHEMES)
def access_token_under_another_scheme_is_refused(
    gateway: Gateway, world: World, case: Callable[[str], str]
) -> None:
    """The right access token under another scheme than Bearer is refused."""
    good = valid_tokens(world)
    header = case(good.grant.access_token.reveal())
    gateway.keyring.secret("authorization", header)

    expect(_with_header(gateway, good, header)).not_granted("the merchant token", "access_token")


@check("REDEEM-11", needs=["control:advance_clock"])
def unused_proxy_token_is_refused_after_ninety_minutes(gateway: Gateway, world: World) -> None:
    """An unused Proxy token is refused ninety minutes later; a new one redeems."""
    agent = world.agents.new()
    world.backend.require_redeemed(world.grant(agent=agent), world.backend.proxy_token())
    unused = world.backend.proxy_token()
    world.clock.advance(NINETY_MINUTES_S)
    grant = world.grant(agent=agent)
    world.backend.require_redeemed(grant, world.backend.proxy_token())

    answer = gateway.redeem(grant.access_token, unused, grant.resource.indicator)

    expect(answer).not_granted("the merchant token", "access_token")


@check("REDEEM-13")
def spellings_of_bearer(gateway: Gateway, world: World) -> None:
    """Records the answer to the scheme Bearer in another case, and with two spaces after it."""
    good = valid_tokens(world)
    token = good.grant.access_token.reveal()
    written = {
        "lower_case": f"bearer {token}",
        "upper_case": f"BEARER {token}",
        "two_blanks": f"Bearer  {token}",
    }

    observe(**{name: _with_header(gateway, good, header).status or 0 for name, header in written.items()})


def _with_header(gateway: Gateway, good: ValidTokens, header: str) -> Exchange:
    request = backend_wire.redemption(
        gateway.base_url, bearer=None, proxy_token=good.proxy_token, resource=good.indicator
    )
    headers = (*request.headers, ("Authorization", header))
    return gateway.wire.send("redemption", replace(request, headers=headers))
