"""Tokens whose audience is not the merchant's API."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from gateproof.conformance.checks.service._altered_tokens import USER, good_token, refused
from gateproof.conformance.kit.inputs.near_indicators import NEAR_MISSES
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut

_CHANGE = Callable[[ServiceWorld, Service], Any]
# Audiences that an incomplete comparison accepts as the indicator.
_NEAR = (
    *("trailing-slash", "double-slash", "dot-segment", "dot-dot-segment", "longer-path", "parent-path"),
    *("upper-case-scheme", "upper-case-host", "path-in-other-case", "whole-in-upper-case", "http"),
    *("default-port", "user-info", "dot-after-the-host", "percent-encoded-letter", "percent-encoded-whole"),
    *("question-mark", "query", "fragment", "space-behind", "space-before", "line-end-behind", "quoted"),
    *("one-character-more", "last-character-missing"),
)


def _indicator(world: ServiceWorld) -> str:
    return world.gateway.setup.indicator


def _nearly(case: Callable[[str], str], world: ServiceWorld, _: Service) -> list[str]:
    indicator = _indicator(world)
    if case(indicator) == indicator:
        raise LeftOut("the Resource indicator has no such near miss")
    return [case(indicator)]


AUDIENCES: dict[str, _CHANGE] = {
    "missing": lambda _world, _: None,
    "empty-list": lambda _world, _: [],
    "empty-string": lambda _world, _: "",
    "another": lambda _world, _: ["https://api.other.example/v1"],
    "the-services-own-url": lambda _world, service: [service.service_url],
    "the-services-own-url-and-the-issuer": lambda world, service: [service.service_url, world.gateway.issuer],
    "the-metadatas-resource": lambda _world, service: [str(service.metadata().member("resource"))],
    "the-client": lambda _world, _: ["agent_1"],
    "the-resource-id": lambda world, _: [world.gateway.setup.resource_id],
    "the-authorization-server": lambda world, _: [world.gateway.authorization_server],
    "the-gateways-api-host": lambda world, _: [world.gateway.addresses.base_url],
    "the-core-host": lambda world, _: [world.gateway.addresses.core_url],
    "the-proxy-client": lambda world, _: [world.gateway.setup.proxy_client_id],
    "the-merchants-api-by-its-address": lambda world, _: [world.gateway.addresses.merchant_api_url],
    "the-operations-own-url": lambda _world, service: [service.request(()).url],
    "the-services-own-url-and-a-slash": lambda _world, service: [f"{service.service_url}/"],
    "longer-host": lambda world, _: [f"{_indicator(world)}.evil.example"],
    "in-a-list-of-lists": lambda world, _: [[_indicator(world)]],
    "in-one-string-with-others": lambda world, _: [f"{_indicator(world)} https://evil.example"],
    # An `in` test for the indicator also succeeds in a string that contains it.
    "one-string-that-goes-on": lambda world, _: f"{_indicator(world)}.evil.example",
    "one-string-with-a-longer-path": lambda world, _: f"{_indicator(world)}/orders",
    "one-string-with-another-before": lambda world, _: f"https://evil.example {_indicator(world)}",
    **{name: partial(_nearly, NEAR_MISSES[name]) for name in _NEAR},
}


@check("CHAL-06", cases=AUDIENCES)
def token_for_another_audience_gets_the_challenge(
    service: Service, world: ServiceWorld, case: _CHANGE
) -> None:
    """A token without the Resource indicator in `aud` gets the challenge, also with the service's URL.

    In a world that was configured by hand, the indicator may be an address of the gateway or the merchant.
    """
    good_token(service, world)
    audience = case(world, service)
    if isinstance(audience, list) and _indicator(world) in audience:
        raise LeftOut("in this world that is the Resource indicator itself")

    refused(service, world, world.gateway.access_token(USER, aud=audience))


@check("CHAL-06", cases=("azp", "client_id", "resource"))
def indicator_in_another_claim_is_no_audience(service: Service, world: ServiceWorld, case: str) -> None:
    """A token with the Resource indicator in another claim than `aud` gets the challenge."""
    gateway = world.gateway
    good_token(service, world)

    elsewhere = {"aud": ["https://api.other.example/v1"], case: gateway.setup.indicator}
    refused(service, world, gateway.access_token(USER, **elsewhere))
