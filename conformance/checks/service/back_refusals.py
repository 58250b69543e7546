"""The operation when redemption is refused."""

from __future__ import annotations

import time

from gateproof.conformance.checks.service._expiring import TIMESTAMPS
from gateproof.conformance.checks.service._failing_parties import (
    USER,
    called_since,
    expect_bounded,
    expect_no_orders,
    expect_recovered,
    failing,
    new_tokens_of,
    require_works,
    shows_orders,
)
from gateproof.conformance.checks.service._short_merchant_tokens import end_of_a_short_token
from gateproof.conformance.kit.service.mcp_session import ServiceSession, session_of
from gateproof.conformance.kit.service.retry_after import repeat_while_asked_to_wait
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld, unseen_subject
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, observe
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.gateway import MERCHANT_TOKEN_S
from gateproof.fakes.gateway.script import Answer, Endpoint

REFUSALS = ("400", "401", "404", "410")
# Lifetime of an earlier merchant token, during which the service may still use it.
_MOMENT_S = 2.0


@check("BACK-07", cases=REFUSALS)
def refused_redemption_brings_no_data(service: Service, world: ServiceWorld, case: str) -> None:
    """If redemption is refused, the service answers without orders and without many retries."""
    require_works(service, world)
    subject = unseen_subject()
    token = world.gateway.access_token(USER, sub=subject)
    answer, calls = failing(service, world, Endpoint.REDEMPTION, _refusal(case), token)

    expect_no_orders(answer, world)
    expect_bounded(world, answer, calls, Endpoint.REDEMPTION)
    observe(
        **{
            f"status_for_{case}": answer.status,
            "redemptions": sum(call.endpoint is Endpoint.REDEMPTION for call in calls),
        }
    )
    expect_recovered(service, world, failed=new_tokens_of(world, subject))


@check("BACK-07")
def refused_redemption_brings_no_data_of_before(service: Service, world: ServiceWorld) -> None:
    """If redemption is refused for a user who was served before, the answer contains no earlier orders.

    An earlier merchant token may be used until it expires; a service that may have done so is called again
    later.
    """
    require_works(service, world)
    before = {case: _served_for_a_moment(service, world) for case in REFUSALS}
    later = []
    for case, (subject, _) in before.items():
        answer, asked = _refused(service, world, case, subject)
        if asked and not shows_orders(answer, world, USER):
            expect_no_orders(answer, world)
        else:
            later.append(case)
    if later:
        wait_for(Cause.EXPIRY, max(0.0, max(expires for _, expires in before.values()) + 1 - time.time()))
    unasked = []
    for case in later:
        answer, asked = _refused(service, world, case, before[case][0])
        if asked:
            expect_no_orders(answer, world)
        else:
            unasked.append(case)
    if unasked:
        raise LeftOut("the service makes no redemption when a user whom it has served calls again")


@check("BACK-08", cases=("of-a-new-user", "of-a-user-just-served", "in-the-session-just-served"))
def token_of_another_project_brings_no_data(service: Service, world: ServiceWorld, case: str) -> None:
    """A token of another Project than the Proxy client's is refused at redemption, and shows no orders.

    A cached merchant token belongs to a Project as well as to a user, so it must not be used for another
    Project, also in the MCP session of that user.
    """
    gateway = world.gateway
    require_works(service, world)
    ext = {**gateway.claims(USER)["ext"], "project_id": "prj_another"}
    subject = unseen_subject()
    ask = service.serve_once
    if case == "of-a-user-just-served":
        _served_for(service, world, subject, MERCHANT_TOKEN_S)
    elif case == "in-the-session-just-served":
        ask = _session_that_serves(service, world, subject).call_once
    token = gateway.access_token(USER, sub=subject, ext=ext)
    gateway.let_redeem(token, "")
    # The service may redeem another token instead; that one does not belong to the Project either.
    refusal = Answer(status=401, members={"error": "wrong_project"}, whose=token)
    mark = gateway.journal.mark()
    gateway.script.always(Endpoint.REDEMPTION, refusal)
    redeemed = called_since(world, mark, Endpoint.REDEMPTION)
    answer = repeat_while_asked_to_wait(lambda: ask(token), redeemed)
    gateway.script.clear()

    expect_no_orders(answer, world)


def _session_that_serves(service: Service, world: ServiceWorld, subject: str) -> ServiceSession:
    """An MCP session in which several tokens of this user are served."""
    gateway = world.gateway
    token = gateway.access_token(USER, sub=subject)
    session = session_of(service, token)
    end_of_a_short_token(
        service, world, lambda: session.call(token), life_s=MERCHANT_TOKEN_S, said=TIMESTAMPS["utc"]
    )
    again = session.call(gateway.access_token(USER, sub=subject))
    if not service.returns_orders(again, gateway.orders_of(USER)):
        raise LeftOut("the server serves one token only in each session")
    return session


def _refusal(case: str, token: str = "") -> Answer:
    """How a redemption is refused: 401 concerns this token, the other statuses its user."""
    error = "reauthentication_required" if case == "410" else "refused"
    return Answer(status=int(case), members={"error": error}, whose=token if case == "401" else "")


def _served_for_a_moment(service: Service, world: ServiceWorld) -> tuple[str, float]:
    """A user who was served with a merchant token of a short lifetime, and its expiry."""
    subject = unseen_subject()
    return subject, _served_for(service, world, subject, _MOMENT_S)


def _served_for(service: Service, world: ServiceWorld, subject: str, life_s: float) -> float:
    """Requires that the user is served with a merchant token that states its expiry, so it may be cached.

    Over MCP some services redeem for each request of a call; all of these tokens state their expiry.
    """
    token = world.gateway.access_token(USER, sub=subject)
    return end_of_a_short_token(
        service, world, lambda: service.serve(token), life_s=life_s, said=TIMESTAMPS["utc"]
    )


def _refused(service: Service, world: ServiceWorld, case: str, subject: str) -> tuple[Exchange, bool]:
    """The answer to a new token of a user whose redemption is refused; True if the service redeemed."""
    gateway, mark = world.gateway, world.gateway.journal.mark()
    token = gateway.access_token(USER, sub=subject)
    gateway.script.always(Endpoint.REDEMPTION, _refusal(case, token))
    answer = service.serve_once(token)
    gateway.script.clear()
    return answer, bool(gateway.journal.since(mark, Endpoint.REDEMPTION))
