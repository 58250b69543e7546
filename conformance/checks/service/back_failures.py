"""What becomes of an operation when the gateway or the merchant does not do its part."""

from __future__ import annotations

from gateproof.conformance.checks.service._trouble import (
    LONGEST_S,
    MOST_TRIES,
    USER,
    authorized_again,
    bounded,
    failing,
    failing_token_endpoint,
    fault,
    recovers,
    shows_orders,
    works,
)
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld, unseen_subject
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import count_fault, expect, require
from gateproof.fakes.gateway.script import Answer, Endpoint

# Longer than a caller may be kept waiting. Who asks no more for as long is himself again in the time that
# is given to a service.
TOLD_TO_WAIT_S = int(LONGEST_S) + 1
FAILURES = {
    "500": Answer(status=500),
    "503": Answer(status=503),
    "503-for-a-minute": Answer(status=503, headers={"retry-after": str(TOLD_TO_WAIT_S)}),
    "reset": Answer(reset=True),
    "hang": Answer(hangs=True),
    "not-json": Answer(body=b"<!doctype html><title>Maintenance</title>"),
    "cut-json": Answer(body=b'{"access_token": "'),
    "wrong-shape": Answer(body=b'{"access_token": ["none"], "orders": 7, "expires_in": {}}'),
    "a-list": Answer(body=b"[]"),
}
# What says of itself that it is no answer to the question.
TRANSIENT = ("500", "503", "503-for-a-minute", "reset", "hang")
# What nobody can take for orders; other JSON may be shown as it came, and again to whoever comes again.
UNREADABLE = ("not-json", "cut-json")
BREAKING = {
    f"{endpoint.value}, {name}": (endpoint, name)
    for endpoint in (Endpoint.REDEMPTION, Endpoint.MERCHANT_API)
    for name in FAILURES
}
# Where it was not enough for a service, the merchant takes the next token: without end nobody could wait.
REFUSALS = 4 * MOST_TRIES


@check("BACK-06", needs=["faults"], cases=BREAKING)
def failing_party_costs_no_more_than_a_bounded_try(
    service: Service, world: ServiceWorld, case: tuple[Endpoint, str]
) -> None:
    """While the gateway fails the service answers in time, after few tries; it works when a party is back."""
    endpoint, name = case
    works(service, world)
    subject = unseen_subject()
    token = world.gateway.access_token(USER, sub=subject)
    answer, calls = failing(service, world, endpoint, FAILURES[name], token)

    count_fault(fault(endpoint, name), sum(call.endpoint is endpoint for call in calls))
    bounded(answer, calls, endpoint)
    expect.that(
        not shows_orders(answer, world, USER),
        answer.step,
        expected="no orders: there was nobody to get them from",
        got="orders",
        exchange=answer,
    )
    if name in TRANSIENT or (endpoint is Endpoint.MERCHANT_API and name in UNREADABLE):
        recovers(service, world, failed=lambda: token)
    elif endpoint is Endpoint.REDEMPTION:
        # An answer that is 200 and makes no sense may be taken for the gateway's last word on this token.
        recovers(service, world, failed=authorized_again(world, subject))
    else:
        recovers(service, world)


@check("BACK-06", needs=["faults"], cases=("500", "reset", "hang", "not-json", "wrong-shape"))
def failing_token_endpoint_costs_no_more_than_a_bounded_try(
    service: Service, world: ServiceWorld, case: str
) -> None:
    """The same while the gateway hands out no Proxy token, and the old one is dead."""
    works(service, world)
    answer, calls = failing_token_endpoint(service, world, FAILURES[case], patiently=case == "wrong-shape")

    count_fault(fault(Endpoint.TOKEN, case), sum(call.endpoint is Endpoint.TOKEN for call in calls))
    bounded(answer, calls, Endpoint.TOKEN)
    recovers(service, world)


@check("BACK-06", needs=["faults"])
def refusing_merchant_costs_no_more_than_a_bounded_try(service: Service, world: ServiceWorld) -> None:
    """For a merchant's API that takes no token of the user's, a few are redeemed and no more."""
    works(service, world)
    gateway, mark = world.gateway, world.gateway.journal.mark()
    said = {"www-authenticate": 'Bearer error="invalid_token"'}
    refused = Answer(status=401, headers=said, members={"error": "invalid_token"})
    gateway.script.tape(Endpoint.MERCHANT_API, [refused] * REFUSALS)
    answer = service.serve_once(world.unseen_token(USER))
    gateway.script.clear()
    calls = gateway.journal.since(mark)
    asked = sum(call.endpoint is Endpoint.MERCHANT_API for call in calls)
    require.that(
        asked > 0, "operation of a user who is new", expected="a call of the merchant API", got="none"
    )

    count_fault(fault(Endpoint.MERCHANT_API, "401"), asked)
    bounded(answer, calls, Endpoint.MERCHANT_API, Endpoint.REDEMPTION)
    expect.that(
        not shows_orders(answer, world, USER),
        answer.step,
        expected="no orders: the merchant gave none",
        got="orders",
        exchange=answer,
    )
    recovers(service, world)
