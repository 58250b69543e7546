"""What a user was served with before a refusal says when it ends, however many redemptions that took."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from gateproof.conformance.checks.service.back_refusals import _served_until
from gateproof.conformance.suite.claims import tallying
from gateproof.conformance.wire.exchange import Answer, Exchange, Request
from gateproof.fakes.gateway.gateway import ScriptedGateway
from gateproof.fakes.gateway.script import OK, Endpoint
from gateproof.fakes.gateway.script import Answer as Scripted


class Redeeming:
    """Asks for a redemption so many times in one operation."""

    def __init__(self, gateway: ScriptedGateway, times: int) -> None:
        self.gateway, self.times = gateway, times
        self.told: list[Scripted] = []

    def serve(self, _token: str) -> Exchange:
        self.told += [self.gateway.script.next(Endpoint.REDEMPTION) for _ in range(self.times)]
        body = json.dumps(self.gateway.orders_of("alice")).encode()
        request = Request(method="POST", url="http://s/mcp")
        return Exchange(step="operation", request=request, answer=Answer(status=200, body=body))


@pytest.mark.parametrize("times", [1, 3])
def test_every_redemption_of_a_call_says_when_its_token_ends(
    scripted_gateway: ScriptedGateway, times: int
) -> None:
    service, world = Redeeming(scripted_gateway, times), SimpleNamespace(gateway=scripted_gateway)

    with tallying():
        _served_until(service, world, "sub_1", 0.0)  # type: ignore[arg-type]

    said: list[Any] = [each.members.get("expires_at") for each in service.told]
    assert said == ["1970-01-01T00:00:00Z"] * times
    assert scripted_gateway.script.next(Endpoint.REDEMPTION) is OK
