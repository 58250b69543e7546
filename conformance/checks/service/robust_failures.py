"""The operation after gateway or merchant failed or refused many calls, or answered byte by byte."""

from __future__ import annotations

from gateproof.conformance.checks.service._failing_parties import USER, expect_recovered, fault, require_works
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import count_fault, observe, require
from gateproof.fakes.gateway.script import Answer, Endpoint

# More calls than the small pools and queues of a service hold.
CROWD, AT_ONCE = 32, 8
CROWDED = {
    "redemption": Endpoint.REDEMPTION,
    "merchant API": Endpoint.MERCHANT_API,
}
# Answers about one user, which are no failure of the party: it still serves all other users.
REFUSING = {
    "redemption, 410": (
        Endpoint.REDEMPTION,
        Answer(status=410, members={"error": "reauthentication_required"}),
    ),
    "redemption, 404": (Endpoint.REDEMPTION, Answer(status=404, members={"error": "scripted"})),
    "merchant API, 403": (Endpoint.MERCHANT_API, Answer(status=403)),
}
# More refusals than most circuit breakers count, and more than small pools have connections.
REFUSALS = 24
# The delay of each answer, so that the calls overlap in time.
DELAY_S = 0.3
# Longer than the answer that is sent one byte at a time takes.
DRIPS_S = 30.0


@check("ROBUST-02", needs=["faults"], cases=CROWDED)
def operation_works_after_a_crowd_met_a_failure(
    service: Service, world: ServiceWorld, case: Endpoint
) -> None:
    """The operation works after many users called while a party answered 500."""
    gateway = world.gateway
    require_works(service, world)
    mark = gateway.journal.mark()
    gateway.script.always(case, Answer(status=500, delay_s=DELAY_S))
    service.serve_all_once([world.unseen_token(USER) for _ in range(CROWD)], at_once=AT_ONCE)
    gateway.script.clear()

    count_fault(fault(case, "500 to a crowd"), _met(world, mark, case))
    expect_recovered(service, world)


@check("ROBUST-02", cases=REFUSING)
def operation_works_after_many_were_refused(
    service: Service, world: ServiceWorld, case: tuple[Endpoint, Answer]
) -> None:
    """The operation works for a user after a party has refused many others, one after the other.

    A service with a circuit breaker may count these as failures, and then has to call the party again later.
    """
    endpoint, refusal = case
    require_works(service, world)
    mark = world.gateway.journal.mark()
    world.gateway.script.always(endpoint, refusal)
    for _ in range(REFUSALS):
        service.serve_once(world.unseen_token(USER))
    world.gateway.script.clear()

    observe(refused=_met(world, mark, endpoint))
    expect_recovered(service, world)


@check("ROBUST-02", needs=["faults"], cases=CROWDED)
def operation_works_after_an_answer_in_drops(service: Service, world: ServiceWorld, case: Endpoint) -> None:
    """The operation works after a party's answer came one byte at a time; how long that took is recorded."""
    gateway = world.gateway
    require_works(service, world)
    mark = gateway.journal.mark()
    gateway.script.always(case, Answer(drips_s=DRIPS_S))
    answer = service.serve_once(world.unseen_token(USER))
    gateway.script.clear()

    count_fault(fault(case, "200 one byte at a time"), _met(world, mark, case))
    held = answer.answer.elapsed_s if answer.answer is not None else None
    observe(
        held_for_s="no answer" if held is None else round(held, 1),
        served=service.returns_orders(answer, gateway.orders_of(USER)),
    )
    expect_recovered(service, world)


def _met(world: ServiceWorld, mark: int, endpoint: Endpoint) -> int:
    """The number of calls of the endpoint since `mark`; requires at least one."""
    met = len(world.gateway.journal.since(mark, endpoint))
    require.that(
        met > 0, "operations of users who are new", expected=f"a call of the {endpoint.value}", got="none"
    )
    return met
