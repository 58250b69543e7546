"""The operation while the gateway or the merchant fails."""

from __future__ import annotations

from gateproof.conformance.checks.service._failing_parties import (
    MOST_TRIES,
    USER,
    expect_bounded,
    expect_recovered,
    failing,
    failing_token_endpoint,
    fault,
    longest_call_s,
    new_tokens_of,
    require_recovered,
    require_works,
    shows_orders,
)
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld, unseen_subject
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import count_fault, expect, require
from gateproof.conformance.suite.time_limits import SERVICE_ANSWER_S
from gateproof.fakes.gateway.script import Answer, Endpoint

# Longer than a caller may wait. A service with a circuit breaker recovers in the time of SERVICE_BREAKER_S.
TOLD_TO_WAIT_S = int(SERVICE_ANSWER_S) + 1
# A service may wait longer than it was told to, by a random part, so that not all of its calls come at once.
AFTER_THAT_S = 1.5 * TOLD_TO_WAIT_S
# A timer that renews a Proxy token early may try again after a while: no call needs the new one yet.
TIMER_AGAIN_S = 180.0
TOLD_TO_WAIT = "503-for-a-minute"
FAILURES = {
    "500": Answer(status=500),
    "503": Answer(status=503),
    TOLD_TO_WAIT: Answer(status=503, headers={"retry-after": str(TOLD_TO_WAIT_S)}),
    "reset": Answer(reset=True),
    "hang": Answer(hangs=True),
    "not-json": Answer(body=b"<!doctype html><title>Maintenance</title>"),
    "cut-json": Answer(body=b'{"access_token": "'),
    "wrong-shape": Answer(body=b'{"access_token": ["none"], "orders": 7, "expires_in": {}}'),
    "a-list": Answer(body=b"[]"),
}
# Answers with a status that is no answer to the request.
TRANSIENT = ("500", "503", TOLD_TO_WAIT, "reset", "hang")
# Bodies that cannot be parsed as orders; a service may pass on other JSON unchanged, also at the next call.
UNREADABLE = ("not-json", "cut-json")
BREAKING = {
    f"{endpoint.value}, {name}": (endpoint, name)
    for endpoint in (Endpoint.REDEMPTION, Endpoint.MERCHANT_API)
    for name in FAILURES
}
# After this many refusals the merchant accepts the next token, because the wait must end.
REFUSALS = 4 * MOST_TRIES


@check("BACK-06", needs=["faults"], cases=BREAKING)
def failing_party_costs_no_more_than_a_bounded_try(
    service: Service, world: ServiceWorld, case: tuple[Endpoint, str]
) -> None:
    """While a party fails, the service answers in time after few tries; afterwards it works again."""
    endpoint, name = case
    require_works(service, world)
    subject = unseen_subject()
    token = world.gateway.access_token(USER, sub=subject)
    answer, calls = failing(service, world, endpoint, FAILURES[name], token)

    count_fault(fault(endpoint, name), sum(call.endpoint is endpoint for call in calls))
    expect_bounded(world, answer, calls, endpoint)
    expect.that(
        not shows_orders(answer, world, USER),
        answer.step,
        expected="no orders: there was no party to get them from",
        got="orders",
        exchange=answer,
    )
    if name in TRANSIENT or (endpoint is Endpoint.MERCHANT_API and name in UNREADABLE):
        within_s = max(AFTER_THAT_S, longest_call_s(world)) if name == TOLD_TO_WAIT else None
        expect_recovered(service, world, within_s, failed=lambda: token)
    elif endpoint is Endpoint.REDEMPTION:
        # The service may treat a malformed 200 as the gateway's final answer for this token.
        expect_recovered(service, world, failed=new_tokens_of(world, subject))
    else:
        expect_recovered(service, world)


@check("BACK-06", needs=["faults"], cases=("500", "reset", "hang", "not-json", "wrong-shape"))
def failing_token_endpoint_costs_no_more_than_a_bounded_try(
    service: Service, world: ServiceWorld, case: str
) -> None:
    """Without a valid Proxy token, the service answers in time after few tries; later it works again."""
    require_works(service, world)
    patiently = case in {"500", "wrong-shape"}
    answer, calls = failing_token_endpoint(service, world, FAILURES[case], patiently=patiently)

    count_fault(fault(Endpoint.TOKEN, case), sum(call.endpoint is Endpoint.TOKEN for call in calls))
    expect_bounded(world, answer, calls, Endpoint.TOKEN)
    by_a_timer = calls[0].at_s < answer.at_s
    expect_recovered(service, world, TIMER_AGAIN_S if by_a_timer else None)


@check("BACK-06", needs=["faults"], cases=("400", "401"))
def refused_proxy_client_costs_no_more_than_a_bounded_try(
    service: Service, world: ServiceWorld, case: str
) -> None:
    """While the gateway refuses the Proxy client, the service answers in time after few tries."""
    require_works(service, world)
    refusal = Answer(status=int(case), members={"error": "invalid_client"})
    answer, calls = failing_token_endpoint(service, world, refusal)

    count_fault(fault(Endpoint.TOKEN, case), sum(call.endpoint is Endpoint.TOKEN for call in calls))
    expect_bounded(world, answer, calls, Endpoint.TOKEN)
    require_recovered(service, world)


@check("BACK-06", needs=["faults"])
def refusing_merchant_costs_no_more_than_a_bounded_try(service: Service, world: ServiceWorld) -> None:
    """If the merchant API rejects every token, the service redeems only a few times for one call.

    The user is served again when the merchant accepts tokens again.
    """
    require_works(service, world)
    gateway, mark, subject = world.gateway, world.gateway.journal.mark(), unseen_subject()
    said = {"www-authenticate": 'Bearer error="invalid_token"'}
    refused = Answer(status=401, headers=said, members={"error": "invalid_token"})
    gateway.script.tape(Endpoint.MERCHANT_API, [refused] * REFUSALS)
    answer = service.serve_once(gateway.access_token(USER, sub=subject))
    gateway.script.clear()
    calls = gateway.journal.since(mark)
    asked = sum(call.endpoint is Endpoint.MERCHANT_API for call in calls)
    require.that(
        asked > 0, "operation of a user who is new", expected="a call of the merchant API", got="none"
    )

    count_fault(fault(Endpoint.MERCHANT_API, "401"), asked)
    expect_bounded(world, answer, calls, Endpoint.MERCHANT_API, Endpoint.REDEMPTION)
    expect.that(
        not shows_orders(answer, world, USER),
        answer.step,
        expected="no orders: the merchant gave none",
        got="orders",
        exchange=answer,
    )
    expect_recovered(service, world, failed=new_tokens_of(world, subject))
