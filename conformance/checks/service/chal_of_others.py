"""The challenges of the parties behind the service, which are not meant for its agents."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urljoin

from gateproof.conformance.checks.service._failing_parties import USER, failing, require_works
from gateproof.conformance.kit.service.service import POINTER, Service, challenges_of, expect_challenge
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect
from gateproof.fakes.gateway.script import Answer, Endpoint

REFUSING: Mapping[str, Endpoint] = {
    "redemption": Endpoint.REDEMPTION,
    "merchant API": Endpoint.MERCHANT_API,
}


@check("CHAL-02", cases=REFUSING)
def challenge_of_another_party_is_not_handed_on(
    service: Service, world: ServiceWorld, case: Endpoint
) -> None:
    """If a party refuses with a challenge that points to its own metadata, the agent is not sent there.

    The specification does not say what the agent gets instead.
    """
    require_works(service, world)
    addresses = world.gateway.addresses
    host = addresses.base_url if case is Endpoint.REDEMPTION else addresses.merchant_api_url
    theirs = urljoin(host, "/.well-known/oauth-protected-resource")
    refusal = Answer(
        status=401,
        headers={"www-authenticate": f'Bearer {POINTER}="{theirs}"'},
        members={"error": "invalid_token"},
    )
    answer, _ = failing(service, world, case, refusal, world.unseen_token(USER))

    named = [each.parameters.get(POINTER) for each in challenges_of(answer)]
    expect.that(
        theirs not in named,
        f"challenge to the agent after the {case.value} answered 401",
        expected=f"no {POINTER} of that party",
        got=theirs,
        exchange=answer,
    )
    expect_challenge(service.operate())
