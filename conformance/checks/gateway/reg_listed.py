"""Reading requests to the registration endpoint: nobody gets a registered secret from it."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire import agent as agent_wire
from gateproof.conformance.wire.exchange import Request
from gateproof.conformance.wire.leaks import carries


@check("REG-10")
def registered_secret_cannot_be_read(world: World) -> None:
    """Reading requests to the registration endpoint show nobody the client secret of an agent.

    They come without credentials, and with the access token of the agent, whose secret works at the code
    exchange. A list without secrets is allowed.
    """
    grant = world.grant()
    secret = grant.agent.client_secret

    for request in _reading(world.gateway, grant):
        answer = world.gateway.wire.send("reading request to the registration endpoint", request)
        place = carries(answer, secret)
        expect.that(
            not place,
            f"{request.method} {request.url}",
            expected="no client secret of a registered agent",
            got=f"its secret ({place})",
            exchange=answer,
        )


def _reading(gateway: Gateway, grant: Grant) -> Iterator[Request]:
    """Each request comes first without credentials, then with the agent's access token."""
    endpoint = agent_wire.registration_endpoint(gateway.base_url)
    client_id = quote(grant.agent.client_id, safe="")
    bearer = ("Authorization", f"Bearer {grant.access_token.reveal()}")
    for method, url in (
        ("GET", endpoint),
        ("HEAD", endpoint),
        ("OPTIONS", endpoint),
        ("GET", f"{endpoint}/"),
        ("GET", f"{endpoint}?page_size=1000"),
        ("GET", f"{endpoint}?client_id={client_id}"),
        ("GET", f"{endpoint}/{client_id}"),
    ):
        yield Request(method=method, url=url)
        yield Request(method=method, url=url, headers=(bearer,))
