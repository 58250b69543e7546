"""Answers to redemptions and registrations have a JSON body or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gateproof.conformance.checks.gateway._json_bodies import expect_json
from gateproof.conformance.kit.gateway.gateway import CALLBACK, Gateway
from gateproof.conformance.kit.gateway.isolated_user import isolated_user, needing_reauthorization
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import require

REGISTRATIONS: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "good": lambda metadata: metadata,
    "http-redirect": lambda metadata: metadata | {"redirect_uris": ["http://agent.example/callback"]},
    "custom-scheme": lambda metadata: metadata | {"redirect_uris": ["agent:callback"]},
    "no-redirect-uris": lambda metadata: {
        name: value for name, value in metadata.items() if name != "redirect_uris"
    },
    "redirect-uris-no-list": lambda metadata: metadata | {"redirect_uris": CALLBACK},
    "basic": lambda metadata: metadata | {"token_endpoint_auth_method": "client_secret_basic"},
}


@check("REDEEM-17", cases=REGISTRATIONS)
def registration_is_answered_in_json(
    gateway: Gateway, world: World, case: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    """A valid or invalid registration is answered with a JSON body or with none."""
    world.agents.accepted(gateway.register(world.agents.metadata()))

    expect_json(gateway.register(case(world.agents.metadata())))


REFUSED = (
    "no-authorization",
    "no-proxy-token",
    "neither",
    "garbage-for-a-token",
    "garbage-for-a-proxy-token",
    "id-token",
    "unknown-resource",
    "resource-no-string",
)


@check("REDEEM-17", cases=REFUSED)
def refused_redemption_is_answered_in_json(gateway: Gateway, world: World, case: str) -> None:
    """A refused redemption is answered with a JSON body or with none."""
    grant, proxy_token = world.grant(), world.backend.proxy_token()
    require(world.backend.redeem_after_backoff(grant, proxy_token)).status(200)
    garbage = world.gateway.keyring.secret("garbage", "gateproof-garbage")
    token = {"no-authorization": None, "neither": None, "garbage-for-a-token": garbage}.get(
        case, grant.id_token if case == "id-token" else grant.access_token
    )
    proxy = {"no-proxy-token": None, "neither": None, "garbage-for-a-proxy-token": garbage}.get(
        case, proxy_token
    )
    resources: dict[str, Any] = {
        "unknown-resource": "https://gateproof.example/nobody",
        "resource-no-string": 7,
    }

    expect_json(gateway.redeem(token, proxy, resources.get(case, grant.resource.indicator)))


@check("REDEEM-17", needs=["merchant"], alone=True)
def lost_merchant_token_is_answered_in_json(world: World) -> None:
    """A redemption that requires reauthentication is answered with a JSON body or with none."""
    _, _, answer = needing_reauthorization(isolated_user(world), issue_refresh_token=False)

    expect_json(answer)
