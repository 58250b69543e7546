"""The nine steps of a working integration, by an agent that starts with one address."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import LeftOut, Unavailable, require
from gateproof.conformance.suite.parties import Resource
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import PROVISIONING_S
from gateproof.conformance.wire import agent as agent_wire
from gateproof.conformance.wire import backend as backend_wire
from gateproof.conformance.wire.documents import same_url, strings_in
from gateproof.conformance.wire.exchange import Exchange, Request
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.service import Headers, OperatorService, ServiceConfig

_POINTER = re.compile(r'resource_metadata="?([^",\s]+)')


@contextmanager
def operator_service(gateway: Gateway, world: World) -> Iterator[OperatorService]:
    """An operator's service in front of the merchant, protected by the gateway under test."""
    project = world.projects.home()
    if world.merchant_api is None:
        raise Unavailable("merchant", "the harness's own merchant is not part of this run")

    def ask(method: str, url: str, headers: Headers, body: bytes) -> tuple[int, bytes]:
        request = Request(method=method, url=url, headers=tuple(headers.items()), body=body)
        answer = gateway.wire.send("operator's service", request).answer
        return (answer.status, answer.body) if answer is not None else (0, b"")

    client = project.proxy_client
    require(gateway.proxy_token(client)).status(200)
    config = ServiceConfig(
        send=ask,
        authorization_server=f"{gateway.base_url}/{project.resource.id}",
        token_endpoint=agent_wire.token_endpoint(gateway.core_url),
        token_request_headers=dict([gateway.basic(client)]),
        redemption_endpoint=backend_wire.redemption_endpoint(gateway.base_url),
        indicator=project.resource.indicator,
        scopes=project.resource.scopes,
        merchant_api=world.merchant_api,
        certificate=world.service_certificate,
    )
    with OperatorService(config) as service, gateway.wire.also(service.url, ca_file=world.ca_file):
        yield service


def run_flow(gateway: Gateway, world: World, service: OperatorService) -> Exchange:
    """Runs the flow of an agent that knows only the service's address; returns the operation's response."""
    operation = f"{service.url}/orders"
    refused = require(gateway.fetch(operation, "operation without a token")).status(401)
    found = _POINTER.search(refused.header("WWW-Authenticate") or "")
    require.that(found is not None, "challenge", expected="a resource_metadata pointer", got="none")
    metadata = require(gateway.fetch(found[1] if found else "", "resource metadata")).json_object()

    server = metadata["authorization_servers"][0]
    discovery = require(
        gateway.fetch(f"{server}/.well-known/openid-configuration", "discovery")
    ).json_object()
    registration = _registration_endpoint(gateway, discovery)
    token_endpoint = discovery.get("token_endpoint")
    if token_endpoint is not None:
        require.text(token_endpoint, "token_endpoint in the discovery document")
    _require_reachable(world, registration, token_endpoint, discovery.get("jwks_uri"))

    agent = world.agents.of(gateway.register(world.agents.metadata(), endpoint=registration))
    attempt = world.attempt(agent)
    visit = gateway.visit(attempt, endpoint=discovery.get("authorization_endpoint"))
    code = require.text(visit.parameter("code"), f"code, after {visit.outcome()}")
    returned = visit.parameter("state")
    require.that(
        returned == attempt.parameters["state"], "state", expected="the one that was sent", got=returned
    )

    fields = gateway.exchange_fields(world.authorization_of(attempt, code))
    answer = gateway.token_request(
        [(name, value) for name, value in fields.items() if value is not None],
        endpoint=token_endpoint,
    )
    token = require.text(answer.member("access_token"), "access_token of the code exchange")
    _wait_for_provisioning(gateway, world, gateway.keyring.secret("access_token", token), attempt.resource)
    bearer = ("Authorization", f"Bearer {token}")
    return gateway.wire.send("operation", Request(method="GET", url=operation, headers=(bearer,)))


def _require_reachable(world: World, *urls: object) -> None:
    """Requires that agent and service only send requests to parties of this run."""
    try:
        for url in urls:
            if isinstance(url, str):
                world.gateway.reachable(url)
    except Unavailable as elsewhere:
        raise LeftOut(elsewhere.reason) from elsewhere


def _wait_for_provisioning(gateway: Gateway, world: World, token: Secret, resource: Resource) -> None:
    """Waits until the gateway has provisioned: the service redeems only once, and would fail after a 404."""
    proxy_token = world.backend.proxy_token()
    deadline = time.monotonic() + world.worker_state.patience_s(PROVISIONING_S)
    while gateway.redeem(token, proxy_token, resource.indicator).status == 404:
        if time.monotonic() > deadline:
            return
        wait_for(Cause.PROVISIONING, 0.25)


def _registration_endpoint(gateway: Gateway, discovery: dict[str, object]) -> str:
    """The announced registration endpoint: the usual URL in any field, as the field's name is unspecified."""
    usual = agent_wire.registration_endpoint(gateway.base_url)
    announced = next(
        (text for text in strings_in(discovery) if same_url(text, usual)),
        discovery.get("registration_endpoint"),
    )
    return require.text(announced, "registration endpoint in the discovery document")
