"""What is left of the hour of a token that was handed out before says nothing of how long tokens live."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import chain, count, repeat
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gateproof.conformance.checks.gateway.proxy_life import token_lives_an_hour
from gateproof.conformance.suite.claims import LeftOut, Unavailable, Violated, tallying
from gateproof.conformance.wire.exchange import Answer, Exchange, Request


def gateway(token: Callable[[], str], *expires_in: int) -> Any:
    """The last of the lifetimes is that of all tokens to come."""
    lives = chain(expires_in, repeat(expires_in[-1]))

    def proxy_token(_client: object) -> Exchange:
        body = json.dumps({"access_token": token(), "expires_in": next(lives)}).encode()
        request = Request(method="POST", url="https://gateway.test/oauth2/token")
        return Exchange(step="Proxy token", request=request, answer=Answer(status=200, body=body))

    return SimpleNamespace(proxy_token=proxy_token)


def world(*, makes_projects: bool = False, makes_clients: bool = False) -> Any:
    client = SimpleNamespace(id="proxy_1", secret=None)

    def new_proxy_client(_project: object) -> Any:
        if not makes_clients:
            raise Unavailable("control:create_proxy_client", "needs the control action create_proxy_client")
        return client

    return SimpleNamespace(
        projects=SimpleNamespace(
            own_or_home=lambda: SimpleNamespace(id="prj_1", proxy_client=client),
            pool=SimpleNamespace(
                created_by_run=lambda _name: makes_projects, new_proxy_client=new_proxy_client
            ),
        ),
        show=lambda *_: None,
        gateway=SimpleNamespace(keyring=SimpleNamespace(add=lambda _secret: None)),
    )


def same() -> str:
    return "the same"


def anew() -> Callable[[], str]:
    numbers = count()
    return lambda: f"number {next(numbers)}"


def asked(gateway: Any, world: Any) -> None:
    with tallying():
        cast("Any", token_lives_an_hour)(gateway, world)


def test_token_handed_out_again_is_left_out_where_no_client_can_be_made() -> None:
    with pytest.raises(LeftOut, match="issued before"):
        asked(gateway(same, 3540), world())


def test_short_life_of_a_new_token_is_a_violation() -> None:
    for there in (
        (gateway(anew(), 3540), world()),
        (gateway(same, 3540), world(makes_clients=True)),
        (gateway(same, 3540), world(makes_projects=True)),
        (gateway(same, 7200), world()),
    ):
        with pytest.raises(Violated, match="expires_in"):
            asked(*there)


def test_hour_is_an_hour() -> None:
    for there in (world(), world(makes_clients=True), world(makes_projects=True)):
        asked(gateway(same, 3599), there)


def test_second_token_lives_an_hour_as_well() -> None:
    for there in (gateway(anew(), 3599, 7200), gateway(anew(), 3599, 60), gateway(same, 3599, 7200)):
        with pytest.raises(Violated, match="expires_in"):
            asked(there, world(makes_clients=True))


def test_token_handed_out_again_may_have_less_left() -> None:
    asked(gateway(same, 3599, 3590), world(makes_clients=True))
