"""Credentials on pages that anybody can open without a token."""

from __future__ import annotations

from gateproof.conformance.checks.service._secrecy import no_credentials_in
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

# Common paths for status and debugging pages of frameworks and programs.
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
# Each may take the time of a request that is given up.
MOST_SILENT = 3


@check("SECRET-02")
def merchant_token_is_on_no_open_page(
    service: Service, world: ServiceWorld, received: ServiceReceived
) -> None:
    """No page that is open without a token contains a merchant token."""
    no_credentials_in(received, _open_pages(service, world), MERCHANT_TOKEN)


@check("SECRET-03")
def proxy_token_is_on_no_open_page(service: Service, world: ServiceWorld, received: ServiceReceived) -> None:
    """No page that is open without a token contains a Proxy token."""
    no_credentials_in(received, _open_pages(service, world), PROXY_TOKEN)


@check("SECRET-04")
def proxy_client_is_on_no_open_page(service: Service, world: ServiceWorld, received: ServiceReceived) -> None:
    """No page that is open without a token contains the Proxy client's secret or ID."""
    no_credentials_in(received, _open_pages(service, world), PROXY_SECRET, PROXY_ID)


def _open_pages(service: Service, world: ServiceWorld) -> list[Exchange]:
    """The answers of common paths without a token, just after a call was served; fetched once a run.

    There is no retry: a page that is unavailable or silent is skipped.
    """
    served(service.serve(world.gateway.access_token(USERS[0])), world.gateway.orders_of(USERS[0]))
    answers, silent = world.service_state.open_pages, 0
    for path in PAGES if not answers else ():
        if path != service.operation.path and silent < MOST_SILENT:
            url = f"{service.service_url}{path}"
            asked = Request(method="GET", url=url, headers=(("Accept", "*/*"),))
            answers.append(service.wire.send_once(f"page {path}", asked))
            silent += answers[-1].answer is None
    answered = sum(each.answer is not None for each in answers)
    require.that(answered > 0, "pages that need no token", expected="an answer of one", got="none")
    return answers
