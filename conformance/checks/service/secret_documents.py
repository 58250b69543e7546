"""The Proxy client in the metadata document, and in errors for bodies that nobody can read."""

from __future__ import annotations

from dataclasses import replace

from gateproof.conformance.checks.service._secrecy import no_credentials_in
from gateproof.conformance.kit.inputs import odd_input as odd
from gateproof.conformance.kit.service.received import PROXY_ID, PROXY_SECRET, ServiceReceived
from gateproof.conformance.kit.service.service import Service, served
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import require

BODIES = (
    *("nothing", "a string", "cut off", "an array of objects", "30000 arrays deep"),
    *("octets that are no UTF-8", "a raw NUL", "XML", "percent garbage"),
)


@check("SECRET-04")
def proxy_client_is_not_in_the_metadata(
    service: Service, world: ServiceWorld, received: ServiceReceived
) -> None:
    """The metadata document contains neither ID nor secret of the Proxy client, just after it was used."""
    served(service.serve(world.gateway.access_token(USERS[0])), world.gateway.orders_of(USERS[0]))
    answer = require(service.metadata()).status(200)

    no_credentials_in(received, [answer], PROXY_SECRET, PROXY_ID)


@check("SECRET-04", cases=("with-a-token", "without-a-token"))
def proxy_client_is_in_no_error_for_a_bad_body(
    service: Service, world: ServiceWorld, received: ServiceReceived, case: str
) -> None:
    """No answer to a body that cannot be read contains the Proxy client's ID or secret."""
    token = world.gateway.access_token(USERS[0])
    served(service.serve(token), world.gateway.orders_of(USERS[0]))
    own = (("Authorization", f"Bearer {token}"),) if case == "with-a-token" else ()
    good = replace(service.request(own), method="POST")
    answers = [
        service.wire.send_once(f"operation, with {name} as its body", replace(good, body=odd.BODIES[name]))
        for name in BODIES
    ]
    answered = sum(answer.answer is not None for answer in answers)
    require.that(answered > 0, "operation with a bad body", expected="an answer", got="none")

    no_credentials_in(received, answers, PROXY_SECRET, PROXY_ID)
