"""Makes a service hold a Proxy token with a short `expires_in`."""

from __future__ import annotations

from gateproof.conformance.checks.service._failing_parties import failing_token_endpoint
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.fakes.gateway.proxy_tokens import PROXY_TOKEN_S
from gateproof.fakes.gateway.script import Answer

# A service that keeps some seconds in reserve renews such a token at once.
LIFE_S = 2
# Some services replace a token that is refused only if it is older than a few seconds.
ASKS_WITHIN_S = 12.0


def proxy_token_has_ended(service: Service, world: ServiceWorld) -> None:
    """Returns when the service's last Proxy token has ended; the next ones are valid for an hour."""
    if world.service_state.renews_by_lifetime_only:
        raise LeftOut("the service requests no other Proxy token before the old one expires")
    world.gateway.proxy_token_life_s = PROXY_TOKEN_S
    short = Answer(members={"expires_in": LIFE_S})
    failing_token_endpoint(service, world, short, times=1, within_s=ASKS_WITHIN_S)
    wait_for(Cause.EXPIRY, LIFE_S + 0.5)
