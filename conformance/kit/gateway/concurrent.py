"""Concurrent requests to the gateway's endpoints; nothing here decides a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.suite.claims import overlapped
from gateproof.conformance.suite.parties import Authorization, Grant, ProxyClient
from gateproof.conformance.wire import agent as agent_wire
from gateproof.conformance.wire import backend as backend_wire
from gateproof.conformance.wire.exchange import Exchange, Request
from gateproof.conformance.wire.secret import Secret

_TOKENS = ("access_token", "id_token", "refresh_token")


def warmed(gateway: Gateway, number: int) -> None:
    """Opens this many connections to the token endpoint; each has served one failing request."""
    url = agent_wire.token_endpoint(gateway.core_url)
    warm_up = agent_wire.form_post(url, [("grant_type", "gateproof")])
    gateway.wire.race("request that opens a connection", [warm_up] * number, kept=True)


def exchanges(
    gateway: Gateway, authorizations: Iterable[Authorization], *, kept: bool = False
) -> tuple[Exchange, ...]:
    """Exchanges these codes concurrently with valid requests; a code may occur several times."""
    requests = [exchange_request(gateway, authorization) for authorization in authorizations]
    answers = _raced(gateway, "code exchange", requests, kept=kept)
    return _with_secrets_registered(gateway, answers, {name: name for name in _TOKENS})


def redemptions(gateway: Gateway, asked: Iterable[tuple[Grant, Secret]]) -> tuple[Exchange, ...]:
    """Redeems each grant with its Proxy token, concurrently."""
    requests = [redemption_request(gateway, grant, proxy_token) for grant, proxy_token in asked]
    answers = _raced(gateway, "redemption", requests)
    return _with_secrets_registered(gateway, answers, {"access_token": "merchant_access_token"})


def registrations(gateway: Gateway, metadata: Sequence[dict[str, Any]]) -> tuple[Exchange, ...]:
    """Registers an agent with each of these metadata, concurrently."""
    endpoint = agent_wire.registration_endpoint(gateway.base_url)
    requests = [agent_wire.registration(endpoint, each) for each in metadata]
    answers = _raced(gateway, "registration", requests)
    for answer in answers:
        client_id = answer.member("client_id")
        if isinstance(client_id, str):
            gateway.keyring.public(client_id)
    named = {name: name for name in ("client_secret", "registration_access_token")}
    return _with_secrets_registered(gateway, answers, named)


def mixed(gateway: Gateway, requests: Sequence[Request]) -> tuple[Exchange, ...]:
    """Sends requests of several kinds concurrently."""
    answers = _raced(gateway, "one of several requests at once", requests)
    return _with_secrets_registered(gateway, answers, {name: name for name in (*_TOKENS, "client_secret")})


def exchange_request(gateway: Gateway, authorization: Authorization) -> Request:
    """The request that exchanges this code."""
    fields = gateway.exchange_fields(authorization).items()
    given = [(name, value) for name, value in fields if value is not None]
    return agent_wire.form_post(agent_wire.token_endpoint(gateway.core_url), given)


def redemption_request(gateway: Gateway, grant: Grant, proxy_token: Secret) -> Request:
    """The request that redeems this grant."""
    return backend_wire.redemption(
        gateway.base_url,
        bearer=grant.access_token,
        proxy_token=proxy_token,
        resource=grant.resource.indicator,
    )


def proxy_token_request(gateway: Gateway, client: ProxyClient) -> Request:
    """A Proxy token request, with the credentials encoded as the gateway last accepted them."""
    endpoint = agent_wire.token_endpoint(gateway.core_url)
    return backend_wire.proxy_token(endpoint, client.id, client.secret, gateway.spelling)[0]


def _raced(
    gateway: Gateway, step: str, requests: Sequence[Request], *, kept: bool = False
) -> tuple[Exchange, ...]:
    """Runs a race, and records whether its requests overlapped."""
    raced = gateway.wire.race(step, requests, kept=kept)
    overlapped(raced.overlapped)
    return raced.answers


def _with_secrets_registered(
    gateway: Gateway, answers: tuple[Exchange, ...], kinds: dict[str, str]
) -> tuple[Exchange, ...]:
    """Registers the secrets in the answers for redaction."""
    for answer in answers:
        for name, kind in kinds.items():
            value = answer.member(name)
            if isinstance(value, str) and value:
                gateway.keyring.secret(kind, value)
    return answers
