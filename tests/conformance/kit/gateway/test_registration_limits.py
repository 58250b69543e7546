"""A gateway may limit the number of agents; other refusals of a valid registration are judged."""

from __future__ import annotations

from typing import Any, cast

import pytest

from gateproof.conformance.kit.gateway.agents import Agents
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.worker_state import MANY_REGISTRATIONS, WorkerState
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.wire.exchange import Answer, Exchange, Request


def answered(status: int) -> Exchange:
    request = Request(method="POST", url="https://gateway.example/api/register")
    return Exchange(step="registration", request=request, answer=Answer(status=status))


def agents(*, registrations: int, another: int) -> Agents:
    class Registering:
        def register(self, _metadata: Any) -> Exchange:
            return answered(another)

    state = WorkerState()
    state.registrations = registrations
    return Agents(gateway=cast(Gateway, Registering()), worker_state=state)


@pytest.mark.parametrize("status", [400, 403, 409, 422])
def test_refusal_past_a_number_of_agents_is_left_out(status: int) -> None:
    many = agents(registrations=MANY_REGISTRATIONS, another=status)

    with pytest.raises(LeftOut, match="limits the number of registrations"):
        many.within_limits(answered(status))


@pytest.mark.parametrize(
    ("registrations", "another", "status"),
    [(MANY_REGISTRATIONS - 1, 403, 403), (MANY_REGISTRATIONS, 201, 400), (MANY_REGISTRATIONS, 429, 429)],
    ids=["few agents", "another one is accepted", "asked to come later"],
)
def test_other_refusals_are_judged(registrations: int, another: int, status: int) -> None:
    refused = answered(status)

    assert agents(registrations=registrations, another=another).within_limits(refused) is refused
