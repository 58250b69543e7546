"""Wrong and revoked Proxy credentials in the form.

The specification shows only the header. A gateway that also reads the form has to check the credentials there
just as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.inputs.near_tokens import changed_at_the_end
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.suite.parties import Grant, ProxyClient
from gateproof.conformance.wire.exchange import Exchange

GRANT = ("grant_type", "client_credentials")
Fields = list[tuple[str, str]]
# What stands for the secret in the form: nothing, or a wrong one.
WRONG: Mapping[str, Callable[[str], Fields]] = {
    "no-secret": lambda _: [],
    "empty-secret": lambda _: [("client_secret", "")],
    "near-miss": lambda secret: [("client_secret", changed_at_the_end(secret))],
    "null": lambda _: [("client_secret", "null")],
}


@check("PROXY-03", cases=WRONG)
def wrong_credentials_in_the_form_redeem_nothing(
    gateway: Gateway, world: World, case: Callable[[str], Fields]
) -> None:
    """A Proxy client's ID in the form, with a wrong secret or none, gives no token that redeems."""
    grant, client = _redeemable(world)
    wrong = case(client.secret.reveal())

    for answer in _asked(gateway, [("client_id", client.id), *wrong]):
        _redeems_nothing(gateway, grant, answer)


@check("PROXY-04", needs=["control:revoke_proxy_client"])
def revoked_client_in_the_form_redeems_nothing(gateway: Gateway, world: World) -> None:
    """A revoked Proxy client's credentials in the form give no token that redeems."""
    project, client = world.projects.with_new_client()
    grant = world.grant(resource=project.resource)
    issued = require(gateway.proxy_token(client)).status(200).member("access_token")
    proxy_token = gateway.keyring.secret("proxy_token", require.text(issued, "access_token"))
    world.backend.require_redeemed(grant, proxy_token)
    console.revoke(world, client)

    for answer in _asked(gateway, [("client_id", client.id), ("client_secret", client.secret.reveal())]):
        _redeems_nothing(gateway, grant, answer)


def _redeemable(world: World) -> tuple[Grant, ProxyClient]:
    """Tokens of a user, and a Proxy client of the same Project with which they redeem."""
    grant = world.grant()
    world.backend.require_redeemed(grant, world.backend.proxy_token())
    return grant, world.projects.home().proxy_client


def _asked(gateway: Gateway, fields: Fields) -> list[Exchange]:
    """The answers to a request with these fields in the form, alone and beside an empty Basic header."""
    return [
        gateway.token_request([GRANT, *fields]),
        gateway.token_request([GRANT, *fields], ("Authorization", "Basic Og==")),
    ]


def _redeems_nothing(gateway: Gateway, grant: Grant, answer: Exchange) -> None:
    token = answer.member("access_token")
    if not isinstance(token, str) or not token:
        expect(answer).not_granted("a Proxy token", "access_token")
        return
    redeemed = gateway.redeem(
        grant.access_token, gateway.keyring.secret("proxy_token", token), grant.resource.indicator
    )

    expect(redeemed).not_granted("the merchant token", "access_token")
