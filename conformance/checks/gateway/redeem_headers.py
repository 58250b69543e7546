"""The two credentials of a redemption stand in their headers, and nowhere else."""

from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import urlencode

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect
from gateproof.conformance.wire import backend as backend_wire
from gateproof.conformance.wire.exchange import Exchange, Request
from gateproof.conformance.wire.secret import Secret

PLACES = ("query", "body")


@check("REDEEM-03", cases=PLACES)
def access_token_elsewhere_is_none(gateway: Gateway, world: World, case: str) -> None:
    """An access token beside the header Authorization, where others would look for it, is a missing one."""
    grant, proxy_token = world.grant(), world.backend.proxy_token()
    world.backend.require_redeemed(grant, proxy_token)
    request = backend_wire.redemption(
        gateway.base_url, bearer=None, proxy_token=proxy_token, resource=grant.resource.indicator
    )

    _refused(_with(gateway, request, case, "access_token", grant.access_token))


@check("REDEEM-04", cases=PLACES)
def proxy_token_elsewhere_is_none(gateway: Gateway, world: World, case: str) -> None:
    """A Proxy token beside the header X-Proxy-Token is a missing one."""
    grant, proxy_token = world.grant(), world.backend.proxy_token()
    world.backend.require_redeemed(grant, proxy_token)
    request = backend_wire.redemption(
        gateway.base_url, bearer=grant.access_token, proxy_token=None, resource=grant.resource.indicator
    )

    _refused(_with(gateway, request, case, "proxy_token", proxy_token))
    _refused(_with(gateway, request, case, "X-Proxy-Token", proxy_token))


def _with(gateway: Gateway, request: Request, where: str, name: str, credential: Secret) -> Exchange:
    said = {name: credential.reveal()}
    if where == "query":
        return gateway.wire.send("redemption", replace(request, url=f"{request.url}?{urlencode(said)}"))
    body = json.loads(request.body or b"{}") | said
    return gateway.wire.send("redemption", replace(request, body=json.dumps(body).encode()))


def _refused(answer: Exchange) -> None:
    """Which of the two is amiss, the header or what stands in its place, is open: so is the status."""
    expect(answer).not_granted("the merchant token", "access_token")
