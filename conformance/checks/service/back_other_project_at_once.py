"""A token of another Project that comes while the same user's token is being redeemed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from gateproof.conformance.checks.service._failing_parties import USER, expect_no_orders, require_works
from gateproof.conformance.checks.service._left_calls import reached
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld, unseen_subject
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut
from gateproof.fakes.gateway.keys import signed
from gateproof.fakes.gateway.script import Answer, Endpoint

# Less than the timeout of a service that gives up on a party within a second.
ANSWERED_AFTER_S = 0.8
_TRIES = 2


@check("BACK-08")
def token_of_another_project_takes_no_part_in_a_redemption(service: Service, world: ServiceWorld) -> None:
    """A token of another Project gets no orders while a token of the same user and this Project is redeemed.

    A redemption that calls share must not be shared by `sub` alone.
    """
    gateway = world.gateway
    require_works(service, world)
    served = False
    for _ in range(_TRIES):
        subject = unseen_subject()
        good = gateway.access_token(USER, sub=subject)
        ext = {**gateway.claims(USER)["ext"], "project_id": "prj_another"}
        # The gateway does not redeem this token.
        foreign = signed(gateway.claims(USER, sub=subject, ext=ext), gateway.core_key)
        mark = gateway.journal.mark()
        gateway.script.always(Endpoint.REDEMPTION, Answer(delay_s=ANSWERED_AFTER_S))
        with ThreadPoolExecutor(1) as caller:
            first = caller.submit(service.serve_once, good)
            if reached(world, mark, Endpoint.REDEMPTION):
                answer = service.serve_once(foreign)
                expect_no_orders(answer, world)
                served = served or service.returns_orders(first.result(), gateway.orders_of(USER))
        gateway.script.clear()
    if not served:
        raise LeftOut("no call was served whose redemption took a moment")
