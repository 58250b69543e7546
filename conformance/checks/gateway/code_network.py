"""An answer that gets lost on its way to the agent gives nobody a second chance."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._exchanges import invalid_grant
from gateproof.conformance.faults.agent_side import LOST_ANSWER
from gateproof.conformance.faults.misbehaving import answer_lost
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, count_fault, require
from gateproof.conformance.wire import agent as agent_wire


@check("CODE-02", needs=["faults"])
def code_whose_answer_was_lost_is_spent(gateway: Gateway, world: World) -> None:
    """An agent that hung up as its tokens came cannot get them by the same code: the code was used."""
    require(gateway.exchange(world.new_code())).status(200)
    authorization = world.new_code()
    fields = gateway.exchange_fields(authorization)
    url = agent_wire.token_endpoint(gateway.core_url)
    request = agent_wire.form_post(
        url, [(name, value) for name, value in fields.items() if value is not None]
    )
    place = gateway.wire.place_of(url)
    require.that(place is not None, "token endpoint", expected="an address of the target", got=url)
    assert place is not None  # noqa: S101 - required above
    status = answer_lost(place, request, timeout_s=gateway.wire.timeout_s)
    count_fault(LOST_ANSWER, status is not None)
    if status != 200:
        raise LeftOut(f"the exchange whose answer was to get lost was answered {status}")

    again = gateway.exchange(authorization)

    invalid_grant(again, "a code whose tokens never arrived")
