"""Credentials are on no page that is there for whoever asks: nobody needs a token to look at it."""

from __future__ import annotations

from gateproof.conformance.checks.service._secrecy import hidden
from gateproof.conformance.kit.service.received import (
    MERCHANT_TOKEN,
    PROXY_ID,
    PROXY_SECRET,
    PROXY_TOKEN,
    ServiceReceived,
)
from gateproof.conformance.kit.service.service import Service, served
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import require
from gateproof.conformance.wire.exchange import Exchange, Request

# Where frameworks, their debugging aids and people put what is to be seen of a running program.
PAGES = (
    "/",
    "/debug",
    "/debug/vars",
    "/health",
    "/healthz",
    "/status",
    "/info",
    "/metrics",
    "/env",
    "/config",
    "/actuator/env",
    "/actuator/httpexchanges",
    "/cache",
    "/logs",
    "/trace",
    "/tokens",
    "/sessions",
)
# Each takes the time of a request that is given up.
MOST_SILENT = 3


@check("SECRET-02")
def merchant_token_is_on_no_open_page(
    service: Service, world: ServiceWorld, received: ServiceReceived
) -> None:
    """What a service shows of itself to whoever asks has no merchant token in it."""
    hidden(received, _open_pages(service, world), MERCHANT_TOKEN)


@check("SECRET-03")
def proxy_token_is_on_no_open_page(service: Service, world: ServiceWorld, received: ServiceReceived) -> None:
    """Nor has it a Proxy token."""
    hidden(received, _open_pages(service, world), PROXY_TOKEN)


@check("SECRET-04")
def proxy_client_is_on_no_open_page(service: Service, world: ServiceWorld, received: ServiceReceived) -> None:
    """Nor the Proxy client's secret, or its ID."""
    hidden(received, _open_pages(service, world), PROXY_SECRET, PROXY_ID)


def _open_pages(service: Service, world: ServiceWorld) -> list[Exchange]:
    """What the usual addresses answer without a token, just after one was served; asked for once in a run.

    An answer is taken as it comes: nobody waits for a page that is not to be had now, nor long in silence.
    """
    served(service.serve(world.gateway.access_token(USERS[0])), world.gateway.orders_of(USERS[0]))
    answers, silent = world.standing.open_pages, 0
    for path in PAGES if not answers else ():
        if path != service.operation.path and silent < MOST_SILENT:
            url = f"{service.service_url}{path}"
            asked = Request(method="GET", url=url, headers=(("Accept", "*/*"),))
            answers.append(service.wire.send_once(f"page {path}", asked))
            silent += answers[-1].answer is None
    answered = sum(each.answer is not None for each in answers)
    require.that(answered > 0, "pages that need no token", expected="an answer of one", got="none")
    return answers
