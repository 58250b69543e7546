"""The claim that answers to an agent contain no credential of the backend."""

from __future__ import annotations

from collections.abc import Sequence

from gateproof.conformance.kit.service.received import (
    MERCHANT_TOKEN,
    PROXY_ID,
    PROXY_SECRET,
    PROXY_TOKEN,
    ServiceReceived,
)
from gateproof.conformance.suite.claims import expect
from gateproof.conformance.wire.exchange import Exchange
from gateproof.reports.verdicts import many

EVERY = (MERCHANT_TOKEN, PROXY_TOKEN, PROXY_SECRET, PROXY_ID)


def no_credentials_in(received: ServiceReceived, answers: Sequence[Exchange], *kinds: str) -> None:
    """Expects that none of these answers contains a credential of these kinds."""
    found = received.leaks_of(answers, *kinds)

    expect.that(
        not found,
        f"{many(len(answers), 'answer')} to the agent",
        expected="no credential of the backend",
        got="; ".join(dict.fromkeys(leak.said() for leak in found[:4])),
    )
