"""Headers of the merchant's API that contain the merchant token, in answers without an error."""

from __future__ import annotations

import secrets

from gateproof.conformance.checks.service._failing_parties import require_recovered, require_works
from gateproof.conformance.checks.service._secrecy import EVERY, no_credentials_in
from gateproof.conformance.kit.service.received import MERCHANT_TOKEN, ServiceReceived
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.wire.leaks import carries
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.gateway.script import Answer, Endpoint

USER = USERS[0]


@check("SECRET-02")
def header_of_the_orders_is_not_relayed_with_the_merchant_token(
    service: Service, world: ServiceWorld, received: ServiceReceived
) -> None:
    """If the merchant's answer with the orders has the token in headers, the agent does not get the token."""
    gateway = world.gateway
    require_works(service, world)
    token = _next_merchant_token(world)
    said = {"authorization": f"Bearer {token}", "access-token": token}
    gateway.script.always(Endpoint.MERCHANT_API, Answer(headers=said))
    answer = require_served(service.serve(world.unseen_token(USER)), gateway.orders_of(USER))

    no_credentials_in(received, [answer], MERCHANT_TOKEN)


@check("SECRET-06", cases=("302", "307"))
def redirect_of_the_merchant_is_not_relayed_with_the_merchant_token(
    service: Service, world: ServiceWorld, received: ServiceReceived, case: str
) -> None:
    """If the merchant's API redirects to an own URL with a token in it, the agent does not get the token.

    The service may follow the redirect or answer with any error. The token is used for nothing else, as a
    service may log the URLs that it requests.
    """
    gateway, token = world.gateway, Secret("merchant_access_token", secrets.token_urlsafe(32))
    require_works(service, world)
    service.keyring.add(token)
    url = f"{gateway.addresses.merchant_api_url}/orders?access_token={token.reveal()}"
    mark = gateway.journal.mark()
    gateway.script.tape(Endpoint.MERCHANT_API, [Answer(status=int(case), headers={"location": url})])
    answer = service.serve_once(world.unseen_token(USER))
    gateway.script.clear()
    asked = gateway.journal.since(mark, Endpoint.MERCHANT_API)
    require.that(bool(asked), "operation", expected="a call of the merchant API", got="none")

    no_credentials_in(received, [answer], *EVERY)
    place = carries(answer, token)
    expect.that(
        not place,
        "answer after a redirect of the merchant's API",
        expected="not the token in its URL",
        got=f"that token ({place})",
        exchange=answer,
    )
    require_recovered(service, world)


def _next_merchant_token(world: ServiceWorld) -> str:
    """The merchant token that the next redemptions return."""
    token = world.gateway.merchant_token(USER)
    world.gateway.script.always(Endpoint.REDEMPTION, Answer(members={"access_token": token}))
    return token
