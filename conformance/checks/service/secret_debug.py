"""Debug fields that a caller asks for: frameworks show more to requests with a switch for it."""

from __future__ import annotations

from gateproof.conformance.checks.service._failing_parties import USER, require_works
from gateproof.conformance.checks.service._named import asked_with
from gateproof.conformance.checks.service._secrecy import EVERY, no_credentials_in
from gateproof.conformance.kit.service.received import (
    MERCHANT_TOKEN,
    PROXY_ID,
    PROXY_SECRET,
    PROXY_TOKEN,
    ServiceReceived,
)
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import require
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.gateway.script import Answer, Endpoint

PLACES = ("header", "query", "message")
_HEADERS = {"X-Debug": "1", "X-Debug-Mode": "true", "X-Trace": "true", "X-Verbose": "true"}
_NAMES = dict.fromkeys(("debug", "_debug", "verbose", "trace", "message", "errors"), "true")


@check("SECRET-02", cases=PLACES)
def debugging_a_call_shows_no_merchant_token(
    service: Service, world: ServiceWorld, received: ServiceReceived, case: str
) -> None:
    """The answer to a good call with a switch such as `debug` or `X-Debug` contains no merchant token."""
    no_credentials_in(received, _debugged(service, world, case), MERCHANT_TOKEN)


@check("SECRET-03", cases=PLACES)
def debugging_a_call_shows_no_proxy_token(
    service: Service, world: ServiceWorld, received: ServiceReceived, case: str
) -> None:
    """The answer to a good call with a switch such as `debug` or `X-Debug` contains no Proxy token."""
    no_credentials_in(received, _debugged(service, world, case), PROXY_TOKEN)


@check("SECRET-04", cases=PLACES)
def debugging_a_call_shows_no_proxy_client(
    service: Service, world: ServiceWorld, received: ServiceReceived, case: str
) -> None:
    """The answer to a good call with a switch such as `debug` shows no ID or secret of the Proxy client."""
    no_credentials_in(received, _debugged(service, world, case), PROXY_SECRET, PROXY_ID)


@check("SECRET-06", cases=("header", "query"))
def debugging_an_error_shows_no_credential(
    service: Service, world: ServiceWorld, received: ServiceReceived, case: str
) -> None:
    """If redemption fails, the answer to a call with `debug` or `X-Debug` shows none of them either."""
    require_works(service, world)
    token = world.unseen_token(USER)
    service.keyring.add(Secret("access_token", token))
    mark = "&" if "?" in service.operation.path else "?"
    world.gateway.script.always(Endpoint.REDEMPTION, Answer(status=500))
    answer = service.operate_once(
        f"Bearer {token}",
        query=f"{mark}debug=true" if case == "query" else "",
        headers=(("X-Debug", "1"),) if case == "header" else (),
    )
    world.gateway.script.clear()
    require.that(
        answer.answer is not None, answer.step, expected="an answer", got=answer.outcome(), exchange=answer
    )

    no_credentials_in(received, [answer], *EVERY)


def _debugged(service: Service, world: ServiceWorld, where: str) -> list[Exchange]:
    """Answers to calls with one switch each; each of a user who is new, so that the service redeems."""
    require_served(service.serve(world.unseen_token(USER)), world.gateway.orders_of(USER))
    switches = _HEADERS if where == "header" else _NAMES
    return [
        answer
        for name, value in switches.items()
        for _, answer in asked_with(service, world.unseen_token(USER), where, {name: value})
    ]
