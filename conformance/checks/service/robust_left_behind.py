"""A caller who waits for the same answer as another caller is served when the other disconnects."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from gateproof.conformance.checks.service._ending_proxy_token import proxy_token_has_ended
from gateproof.conformance.checks.service._failing_parties import OTHER, USER, require_works
from gateproof.conformance.checks.service._left_calls import call_of, reached, sent
from gateproof.conformance.checks.service.robust_cancelled import LEAVING
from gateproof.conformance.kit.service.mcp_session import ServiceSession, session_of
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, count_fault, expect
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.gateway.script import Answer, Endpoint

# Less than the timeout of a service that gives up on a party within a second.
ANSWERED_AFTER_S = 0.8
# The time between the second call and the end of the first caller's connection.
LEAVES_AFTER_S = 0.3


@check(
    "ROBUST-03", needs=["faults"], cases={each.value: each for each in (Endpoint.TOKEN, Endpoint.REDEMPTION)}
)
def caller_who_leaves_takes_nobody_along(service: Service, world: ServiceWorld, case: Endpoint) -> None:
    """A call is served if the caller of an earlier one disconnects while both wait for the same party.

    Both wait for a Proxy token, or for the redemption of the same gateway access token. The check first makes
    the same calls with a first caller who stays. A call may fail by chance once, but not twice.
    """
    require_works(service, world)
    stayed = _second_of_two(service, world, case, leaves=False)
    if stayed is None or not service.returns_orders(stayed, world.gateway.orders_of(_second_user(case))):
        raise LeftOut(f"two callers who wait for a slow {case.value} are not both served, even if both stay")
    answers = [_second_of_two(service, world, case, leaves=True)]
    if not _is_served(service, world, case, answers[0]):
        answers.append(_second_of_two(service, world, case, leaves=True))
    count_fault(LEAVING, len(answers))
    lost = answers[-1]
    if lost is None:
        raise LeftOut("the second call was answered before the first caller left")
    expect.that(
        service.returns_orders(lost, world.gateway.orders_of(_second_user(case))),
        f"operation after another caller, who waited for the {case.value} as well, has left",
        expected="the orders, at one of two tries",
        got=lost.outcome(),
        exchange=lost,
    )


def _is_served(service: Service, world: ServiceWorld, case: Endpoint, answer: Exchange | None) -> bool:
    return answer is None or service.returns_orders(answer, world.gateway.orders_of(_second_user(case)))


def _second_user(case: Endpoint) -> str:
    return OTHER if case is Endpoint.TOKEN else USER


def _second_of_two(
    service: Service, world: ServiceWorld, endpoint: Endpoint, *, leaves: bool
) -> Exchange | None:
    """The answer to the second of two calls that wait for this party; None if it came too early."""
    gateway = world.gateway
    if endpoint is Endpoint.TOKEN:
        proxy_token_has_ended(service, world)
    token = world.unseen_token(USER)
    seconds = token if endpoint is Endpoint.REDEMPTION else world.unseen_token(OTHER)
    first, second = (_session(service, each) for each in (token, seconds))
    ask = _asking(service, second, seconds)
    mark = gateway.journal.mark()
    gateway.script.always(endpoint, Answer(delay_s=ANSWERED_AFTER_S))
    with ThreadPoolExecutor(1) as caller:
        with sent(service, call_of(service, first, token)):
            if not reached(world, mark, endpoint):
                raise LeftOut(f"no call reached the {endpoint.value} while its caller was there")
            asked: Future[Exchange] = caller.submit(ask)
            wait_for(Cause.REQUEST, LEAVES_AFTER_S)
            early = asked.done()
            if not leaves:
                asked.result()
        answer = asked.result()
    gateway.script.clear()
    return None if early and leaves else answer


def _asking(service: Service, session: ServiceSession | None, token: str) -> Callable[[], Exchange]:
    return lambda: session.call(token) if session is not None else service.serve(token)


def _session(service: Service, token: str) -> ServiceSession | None:
    """A session with this token for an MCP server."""
    service.keyring.add(Secret("access_token", token))
    return session_of(service, token) if service.operation.kind == "mcp" else None
