"""What becomes of an operation when the gateway or the merchant does not do its part."""

from __future__ import annotations

import secrets

from conformance.check import check
from conformance.checks.service._trouble import (
    USER,
    bounded,
    failing,
    failing_token_endpoint,
    fault,
    nothing_served,
    recovers,
    shows_orders,
    works,
)
from conformance.claims import expect, fired, observe
from conformance.run.service_world import ServiceWorld
from conformance.service import Service, served
from fakes.gateway.script import Answer, Endpoint

FAILURES = {
    "500": Answer(status=500),
    "503": Answer(status=503),
    "reset": Answer(reset=True),
    "hang": Answer(hangs=True),
    "not-json": Answer(body=b"<!doctype html><title>Maintenance</title>"),
    "cut-json": Answer(body=b'{"access_token": "'),
    "wrong-shape": Answer(body=b'{"access_token": ["none"], "orders": 7, "expires_in": {}}'),
    "a-list": Answer(body=b"[]"),
}
# What says of itself that it is no answer to the question.
TRANSIENT = ("500", "503", "reset", "hang")
# Refusals that end when the user signs in again, by what the specification says of them.
MENDED_BY_THE_USER = ("404", "410")
BREAKING = {
    f"{endpoint.value}, {name}": (endpoint, name)
    for endpoint in (Endpoint.REDEMPTION, Endpoint.MERCHANT_API)
    for name in FAILURES
}


@check("BACK-06", needs=["faults"], cases=BREAKING)
def failing_party_costs_no_more_than_a_bounded_try(
    service: Service, world: ServiceWorld, case: tuple[Endpoint, str]
) -> None:
    """While a party fails the service answers in time, tries a few times, and works when it is over."""
    endpoint, name = case
    works(service, world)
    token = world.unseen_token(USER)
    answer, calls = failing(service, world, endpoint, FAILURES[name], token)

    fired(fault(endpoint, name), sum(call.endpoint is endpoint for call in calls))
    bounded(answer, calls, endpoint)
    expect.that(
        not shows_orders(answer, world, USER),
        answer.step,
        expected="no orders: there was nobody to get them from",
        got="orders",
        exchange=answer,
    )
    # An answer that is 200 and makes no sense may be taken for the gateway's last word on this token.
    recovers(service, world, failed=token if name in TRANSIENT else "")


@check("BACK-06", needs=["faults"], cases=("500", "reset", "hang", "not-json", "wrong-shape"))
def failing_token_endpoint_costs_no_more_than_a_bounded_try(
    service: Service, world: ServiceWorld, case: str
) -> None:
    """The same while the gateway hands out no Proxy token, and the old one is dead."""
    works(service, world)
    answer, calls = failing_token_endpoint(service, world, FAILURES[case])

    fired(fault(Endpoint.TOKEN, case), sum(call.endpoint is Endpoint.TOKEN for call in calls))
    bounded(answer, calls, Endpoint.TOKEN)
    recovers(service, world)


@check("BACK-07", cases=("400", "401", "404", "410"))
def refused_redemption_brings_no_data(service: Service, world: ServiceWorld, case: str) -> None:
    """A redemption that is refused ends the operation: no orders, no crash, no storm of tries."""
    works(service, world)
    error = "reauthentication_required" if case == "410" else "refused"
    refusal = Answer(status=int(case), members={"error": error})
    subject = f"sub_{secrets.token_hex(8)}"
    token = world.gateway.access_token(USER, sub=subject)
    answer, calls = failing(service, world, Endpoint.REDEMPTION, refusal, token)

    nothing_served(answer, world)
    bounded(answer, calls, Endpoint.REDEMPTION)
    observe(
        **{
            f"status_for_{case}": answer.status,
            "redemptions": sum(call.endpoint is Endpoint.REDEMPTION for call in calls),
        }
    )
    # The refused token itself may stay refused. A user who has authorized anew comes with another.
    renewed = world.gateway.access_token(USER, sub=subject) if case in MENDED_BY_THE_USER else ""
    recovers(service, world, failed=renewed)


@check("BACK-08", cases=("of-a-new-user", "of-a-user-just-served"))
def token_of_another_project_brings_no_data(service: Service, world: ServiceWorld, case: str) -> None:
    """A token of a Project that is not the Proxy client's is refused at redemption, and opens nothing.

    A merchant token that is kept belongs to a Project as well as to a user: it is none for another Project.
    """
    gateway = world.gateway
    works(service, world)
    ext = {**gateway.claims(USER)["ext"], "project_id": "prj_another"}
    subject = f"sub_{secrets.token_hex(8)}"
    if case == "of-a-user-just-served":
        served(service.serve(gateway.access_token(USER, sub=subject)), gateway.orders_of(USER))
    token = gateway.access_token(USER, sub=subject, ext=ext)
    gateway.let_redeem(token, "")
    gateway.script.always(Endpoint.REDEMPTION, Answer(status=401, members={"error": "wrong_project"}))
    answer = service.serve_once(token)
    gateway.script.clear()

    nothing_served(answer, world)
