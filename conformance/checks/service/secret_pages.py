"""Credentials on common pages, without a token and with a good one."""

from __future__ import annotations

from gateproof.conformance.checks.service._secrecy import no_credentials_in
from gateproof.conformance.kit.service.received import (
    MERCHANT_TOKEN,
    PROXY_ID,
    PROXY_SECRET,
    PROXY_TOKEN,
    ServiceReceived,
)
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import require
from gateproof.conformance.wire.exchange import Exchange, Headers, Request

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
# How many pages may give no answer: each may take until the timeout.
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


@check("SECRET-02")
def merchant_token_is_on_no_page_for_agents(
    service: Service, world: ServiceWorld, received: ServiceReceived
) -> None:
    """No page that a good token opens contains a merchant token."""
    no_credentials_in(received, _pages_for_agents(service, world), MERCHANT_TOKEN)


@check("SECRET-03")
def proxy_token_is_on_no_page_for_agents(
    service: Service, world: ServiceWorld, received: ServiceReceived
) -> None:
    """No page that a good token opens contains a Proxy token."""
    no_credentials_in(received, _pages_for_agents(service, world), PROXY_TOKEN)


@check("SECRET-04")
def proxy_client_is_on_no_page_for_agents(
    service: Service, world: ServiceWorld, received: ServiceReceived
) -> None:
    """No page that a good token opens contains the Proxy client's secret or ID."""
    no_credentials_in(received, _pages_for_agents(service, world), PROXY_SECRET, PROXY_ID)


def _open_pages(service: Service, world: ServiceWorld) -> list[Exchange]:
    """The answers of common paths without a token; fetched once in a run."""
    _works(service, world)
    return _fetched(service, world.service_state.open_pages, ())


def _pages_for_agents(service: Service, world: ServiceWorld) -> list[Exchange]:
    """The answers of the same paths with a good token; fetched once in a run."""
    token = _works(service, world)
    bearer = ("Authorization", f"Bearer {token}")
    return _fetched(service, world.service_state.pages_for_agents, (bearer,))


def _works(service: Service, world: ServiceWorld) -> str:
    """A token with which the operation has just shown the orders."""
    token = world.gateway.access_token(USERS[0])
    require_served(service.serve(token), world.gateway.orders_of(USERS[0]))
    return token


def _fetched(service: Service, answers: list[Exchange], own: Headers) -> list[Exchange]:
    """Fetches common paths into this list if it is empty, and returns it.

    There is no retry: a page that is unavailable or silent is skipped.
    """
    silent = 0
    for path in PAGES if not answers else ():
        if path != service.operation.path and silent < MOST_SILENT:
            url = f"{service.service_url}{path}"
            asked = Request(method="GET", url=url, headers=(("Accept", "*/*"), *own))
            answers.append(service.wire.send_once(f"page {path}", asked))
            silent += answers[-1].answer is None
    answered = sum(each.answer is not None for each in answers)
    require.that(answered > 0, "common pages", expected="an answer of one", got="none")
    return answers
