"""How long the service reuses a Proxy token that is valid for an hour.

These checks run last of their family, and their module name must sort last: a service that renews by lifetime
only requests no other token afterwards.
"""

from __future__ import annotations

import secrets

from gateproof.conformance.checks.service._failing_parties import require_recovered
from gateproof.conformance.checks.service._proxy_calls import (
    USER,
    requests_proxy_token,
    require_served_uncached,
)
from gateproof.conformance.kit.service.processes import processes
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe, require
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.fakes.gateway.proxy_tokens import PROXY_TOKEN_S
from gateproof.fakes.gateway.script import Answer, Endpoint

IN_A_ROW = 20
# If milliseconds are mistaken for seconds, or the reverse, an hour becomes three and a half seconds. After
# each pause but one, a worker process without an earlier call may serve the call.
PAUSES, PAUSE_S = 4, 4.5


@check("BACK-02")
def proxy_token_is_reused(service: Service, world: ServiceWorld) -> None:
    """Twenty calls in a row, and calls a few seconds later, reuse a Proxy token that lasts an hour.

    A service that requests another token after each of four short pauses keeps tokens for seconds only. There
    is one more pause if each of its processes may have an earlier token whose short lifetime ends meanwhile.
    """
    most = processes(world)
    pauses = max(PAUSES, most) + world.service_state.renews_by_lifetime_only
    calls = max(IN_A_ROW, 2 * most)
    gateway, mark = world.gateway, world.gateway.journal.mark()
    gateway.proxy_token_life_s = PROXY_TOKEN_S
    for _ in range(calls):
        require_served_uncached(service, world)
    asked = len(gateway.journal.since(mark, Endpoint.TOKEN))

    observe(requests_in_a_row=asked)
    expect.that(
        asked <= most,
        f"Proxy token requests for {calls} calls in a row",
        expected=f"{most} at most",
        got=f"{asked}",
    )
    expect.that(
        not all(requests_proxy_token(service, world, PAUSE_S) for _ in range(pauses)),
        f"calls after each of {pauses} pauses of {PAUSE_S:g} s",
        expected="the earlier Proxy token, once at least",
        got="a request for a new one each time",
    )


@check("BACK-02")
def proxy_token_is_reused_for_every_agent(service: Service, world: ServiceWorld) -> None:
    """Calls of many agents, one after the other, reuse one Proxy token: it belongs to the service."""
    most, ext = processes(world), world.gateway.claims(USER)["ext"]
    orders, mark = world.gateway.orders_of(USER), world.gateway.journal.mark()
    agents, served = 2 * most + 4, 0
    world.gateway.proxy_token_life_s = PROXY_TOKEN_S
    for number in range(agents):
        agent = {**ext["agent"], "client_id": f"agent_{secrets.token_hex(6)}", "domain": f"{number}.example"}
        answer = service.serve(world.unseen_token(USER, ext={**ext, "agent": agent}))
        # Behind the check of the token, a refusal may have the form of a tool that failed, too.
        if answer.status is not None and answer.status < 500 and not service.succeeded(answer):
            require_served_uncached(service, world)
            break
        require_served(answer, orders)
        served += 1
    asked = len(world.gateway.journal.since(mark, Endpoint.TOKEN))
    if not served:
        raise LeftOut("the service serves no agent that it does not know")

    expect.that(
        asked <= most,
        f"Proxy token requests for calls of {served} agents",
        expected=f"{most} at most",
        got=f"{asked}",
    )


@check("BACK-02", cases=("404", "410"))
def refused_redemption_costs_no_new_proxy_token(service: Service, world: ServiceWorld, case: str) -> None:
    """When redemption answers 404 or 410, the service keeps using its Proxy token.

    A token may be due for renewal at that moment, once in each process; so this is tried once more than there
    are processes. A service may request no other token for a while after one, so there are pauses between the
    tries. Whether the service requests another token after a 500 is recorded.
    """
    gateway, most = world.gateway, processes(world)
    gateway.proxy_token_life_s = PROXY_TOKEN_S
    for _ in range(2 * most):
        require_served_uncached(service, world)

    expect.that(
        not all(_requests_again(service, world, int(case), most) for _ in range(most + 1)),
        f"calls during and after redemptions that are answered {case}",
        expected="the earlier Proxy token: the answer is about the user or the Resource",
        got="a request for a new one each time",
    )
    if case == "404":
        observe(requests_after_a_500=_requests(service, world, 500, 1))


def _requests_again(service: Service, world: ServiceWorld, status: int, times: int) -> bool:
    """True if another Proxy token was requested; then this waits before it returns."""
    requested = _requests(service, world, status, times) > 0
    if requested:
        wait_for(Cause.EXPIRY, PAUSE_S)
    return requested


def _requests(service: Service, world: ServiceWorld, status: int, times: int) -> int:
    """Number of Proxy tokens requested in calls with this redemption answer and in good calls afterwards."""
    gateway = world.gateway
    mark = gateway.journal.mark()
    error = "reauthentication_required" if status == 410 else "scripted"
    gateway.script.always(Endpoint.REDEMPTION, Answer(status=status, members={"error": error}))
    for _ in range(times):
        service.serve_once(world.unseen_token(USER))
    gateway.script.clear()
    asked = [call.endpoint is Endpoint.REDEMPTION for call in gateway.journal.since(mark)]
    require.that(any(asked), "operation of a user who is new", expected="a redemption", got="none")
    if status >= 500:
        require_recovered(service, world)
    for _ in range(times):
        require_served_uncached(service, world)
    return len(gateway.journal.since(mark, Endpoint.TOKEN))
