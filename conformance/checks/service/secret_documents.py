"""The Proxy client in the metadata of a service and in its errors for bad requests."""

from __future__ import annotations

from dataclasses import replace

from gateproof.conformance.checks.service._good_call import good_call
from gateproof.conformance.checks.service._secrecy import no_credentials_in
from gateproof.conformance.kit.inputs import odd_input as odd
from gateproof.conformance.kit.service.received import PROXY_ID, PROXY_SECRET, ServiceReceived
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import require


@check("SECRET-04")
def proxy_client_is_not_in_the_metadata(
    service: Service, world: ServiceWorld, received: ServiceReceived
) -> None:
    """The metadata document contains neither the ID nor the secret of the Proxy client, headers included."""
    good_call(service, world)
    answers = [service.metadata()]
    require(answers[0]).status(200)
    if service.first_metadata is not None:
        answers.append(service.first_metadata)

    no_credentials_in(received, answers, PROXY_SECRET, PROXY_ID)


@check("SECRET-04")
def proxy_client_is_not_in_the_error_for_a_bad_body(
    service: Service, world: ServiceWorld, received: ServiceReceived
) -> None:
    """With a good token and an odd body, the answer contains neither ID nor secret of the Proxy client."""
    good, _ = good_call(service, world)
    answers = [
        service.wire.send_once(f"operation with {name}", replace(good, method="POST", body=body))
        for name, body in odd.BODIES.items()
    ]
    answered = [each for each in answers if each.answer is not None]
    require.that(bool(answered), "operation with bad bodies", expected="an answer", got="none")

    no_credentials_in(received, answered, PROXY_SECRET, PROXY_ID)
