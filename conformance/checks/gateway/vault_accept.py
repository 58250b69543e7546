"""The 410 for a lost merchant token, with `Accept: */*` and without an Accept header."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._request_forms import ACCEPTS, with_request_form
from gateproof.conformance.kit.gateway.isolated_user import isolated_user, needing_reauthorization
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect

CODE = "reauthentication_required"


@check("VAULT-02", alone=True)
def no_refresh_token_answers_410_whatever_media_type_is_asked_for(world: World) -> None:
    """The 410 contains reauthentication_required also with `Accept: */*` or without an Accept header.

    Another user, whose merchant token has not expired, redeems.
    """
    world.backend.require_redeemed(world.grant(), world.backend.proxy_token())
    proxy_token, grant, _ = needing_reauthorization(isolated_user(world), issue_refresh_token=False)
    for form in ACCEPTS.values():
        gateway = with_request_form(world, form).gateway
        answer = gateway.redeem(grant.access_token, proxy_token, grant.resource.indicator)

        expect(answer).status(410)
        expect.that(
            answer.says(CODE), "body of the 410", expected=CODE, got="a body without it", exchange=answer
        )
