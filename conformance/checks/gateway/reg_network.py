"""Registrations that arrive in small pieces."""

from __future__ import annotations

from gateproof.conformance.faults import toxics
from gateproof.conformance.faults.agent_side import IN_PIECES, IN_WRITES
from gateproof.conformance.faults.byte_proxy import byte_proxy
from gateproof.conformance.faults.toxics import Way
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import count_fault, expect, require
from gateproof.conformance.wire.agent import registration, registration_endpoint

# Small enough that head and body arrive in many pieces, and no TLS record arrives in one piece.
PIECE, PAUSE_S = 48, 0.002


@check("REG-01", needs=["faults"])
def registration_cut_by_the_network_answers_201(gateway: Gateway, world: World) -> None:
    """A registration that the network splits into small segments is answered with 201."""
    world.agents.new()
    url = registration_endpoint(gateway.base_url)
    place = gateway.wire.place_of(url)
    require.that(place is not None, "registration", expected="an address of the target", got=url)
    assert place is not None  # noqa: S101 - required above
    pieces = toxics.sliced(PIECE, pause_s=PAUSE_S, way=Way.THERE)
    with byte_proxy(place.address(url)) as proxy:
        proxy.arm(pieces)
        with gateway.wire.through(url, proxy.address):
            answer = gateway.register(world.agents.metadata())
        count_fault(IN_PIECES, proxy.fired(pieces))

    expect(world.agents.within_limits(answer)).status(201)
    world.agents.of(answer)


@check("REG-01", needs=["faults"])
def registration_written_in_pieces_answers_201(gateway: Gateway, world: World) -> None:
    """A registration that the agent writes in several pieces is answered with 201."""
    world.agents.new()
    request = registration(registration_endpoint(gateway.base_url), world.agents.metadata())

    written: list[int] = []
    (answer,) = gateway.wire.pipelined("registration", [request], piece=PIECE, wrote=written.append)

    require.that(
        answer.answer is not None or bool(written),
        "connection for a registration in pieces",
        expected="one that can be written to",
        got=answer.failure or "none",
    )
    count_fault(IN_WRITES, max(len(written) - 1, 0))
    expect(world.agents.within_limits(answer)).status(201)
    world.agents.of(answer)
