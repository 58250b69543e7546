"""The two credentials of a redemption are accepted in their own headers only."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlencode

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire import backend as backend_wire
from gateproof.conformance.wire.exchange import Exchange, Request
from gateproof.conformance.wire.secret import Secret

PLACES = ("query", "body")
# Makes the headers of a request from an access token and a Proxy token.
Headers = Callable[[str, str], Sequence[tuple[str, str]]]
FOR_THE_ACCESS_TOKEN: Mapping[str, Headers] = {
    "beside-the-proxy-token": lambda user, proxy: [("X-Proxy-Token", f"{proxy}, Bearer {user}")],
    "second-x-proxy-token": lambda user, proxy: [
        ("X-Proxy-Token", proxy),
        ("X-Proxy-Token", f"Bearer {user}"),
    ],
    "proxy-authorization": lambda user, proxy: [
        ("Proxy-Authorization", f"Bearer {user}"),
        ("X-Proxy-Token", proxy),
    ],
    "cookie": lambda user, proxy: [("Cookie", f"access_token={user}"), ("X-Proxy-Token", proxy)],
}
FOR_THE_PROXY_TOKEN: Mapping[str, Headers] = {
    "beside-the-access-token": lambda user, proxy: [("Authorization", f"Bearer {user}, Bearer {proxy}")],
    "behind-the-access-token": lambda user, proxy: [("Authorization", f"Bearer {user} {proxy}")],
    "second-authorization": lambda user, proxy: [
        ("Authorization", f"Bearer {user}"),
        ("Authorization", f"Bearer {proxy}"),
    ],
    "proxy-authorization": lambda user, proxy: [
        ("Authorization", f"Bearer {user}"),
        ("Proxy-Authorization", f"Bearer {proxy}"),
    ],
    "proxy-token": lambda user, proxy: [("Authorization", f"Bearer {user}"), ("Proxy-Token", proxy)],
    "cookie": lambda user, proxy: [
        ("Authorization", f"Bearer {user}"),
        ("Cookie", f"proxy_token={proxy}; X-Proxy-Token={proxy}"),
    ],
}


@check("REDEEM-03", cases=PLACES)
def access_token_elsewhere_is_none(gateway: Gateway, world: World, case: str) -> None:
    """An access token in a place other than the Authorization header counts as missing."""
    grant, proxy_token = world.grant(), world.backend.proxy_token()
    world.backend.require_redeemed(grant, proxy_token)
    request = backend_wire.redemption(
        gateway.base_url, bearer=None, proxy_token=proxy_token, resource=grant.resource.indicator
    )

    _refused(_with(gateway, request, case, "access_token", grant.access_token))


@check("REDEEM-04", cases=PLACES)
def proxy_token_elsewhere_is_none(gateway: Gateway, world: World, case: str) -> None:
    """A Proxy token in a place other than the header X-Proxy-Token counts as missing."""
    grant, proxy_token = world.grant(), world.backend.proxy_token()
    world.backend.require_redeemed(grant, proxy_token)
    request = backend_wire.redemption(
        gateway.base_url, bearer=grant.access_token, proxy_token=None, resource=grant.resource.indicator
    )

    _refused(_with(gateway, request, case, "proxy_token", proxy_token))
    _refused(_with(gateway, request, case, "X-Proxy-Token", proxy_token))


@check("REDEEM-03", cases=FOR_THE_ACCESS_TOKEN)
def access_token_in_another_header_is_none(gateway: Gateway, world: World, case: Headers) -> None:
    """An access token in a header other than Authorization counts as missing."""
    grant, proxy_token = world.grant(), world.backend.proxy_token()
    world.backend.require_redeemed(grant, proxy_token)

    _refused(_with_headers(gateway, grant, case(grant.access_token.reveal(), proxy_token.reveal())))


@check("REDEEM-04", cases=FOR_THE_PROXY_TOKEN)
def proxy_token_in_another_header_is_none(gateway: Gateway, world: World, case: Headers) -> None:
    """A Proxy token in a header other than X-Proxy-Token counts as missing, also beside the access token."""
    grant, proxy_token = world.grant(), world.backend.proxy_token()
    world.backend.require_redeemed(grant, proxy_token)

    _refused(_with_headers(gateway, grant, case(grant.access_token.reveal(), proxy_token.reveal())))


def _with_headers(gateway: Gateway, grant: Grant, headers: Sequence[tuple[str, str]]) -> Exchange:
    bare = backend_wire.redemption(
        gateway.base_url, bearer=None, proxy_token=None, resource=grant.resource.indicator
    )
    return gateway.wire.send("redemption", replace(bare, headers=(*bare.headers, *headers)))


def _with(gateway: Gateway, request: Request, where: str, name: str, credential: Secret) -> Exchange:
    said = {name: credential.reveal()}
    if where == "query":
        return gateway.wire.send("redemption", replace(request, url=f"{request.url}?{urlencode(said)}"))
    body = json.loads(request.body or b"{}") | said
    return gateway.wire.send("redemption", replace(request, body=json.dumps(body).encode()))


def _refused(answer: Exchange) -> None:
    """The gateway may complain about the missing header or about the other place, so any 4xx is allowed."""
    expect(answer).not_granted("the merchant token", "access_token")
