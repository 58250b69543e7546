"""All faults for gateways; those for services and agents are defined in their checks."""

from __future__ import annotations

from collections.abc import Sequence

from gateproof.conformance.faults import agent_side, http_between, merchant_answers, network
from gateproof.conformance.suite.fault import Fault

EVERY: Sequence[Fault] = (
    *(
        each.fault
        for group in (
            merchant_answers.TROUBLE,
            merchant_answers.LONG_PAUSES,
            merchant_answers.SILENCE,
            merchant_answers.ENDLESS,
            merchant_answers.ROTATED,
            merchant_answers.ODD,
        )
        for each in group.values()
    ),
    merchant_answers.REDIRECT.fault,
    merchant_answers.MERCHANT_DELAYS,
    *(each.fault for each in merchant_answers.LISTENER_FAULTS.values()),
    *(each.fault for group in (http_between.LOST, http_between.ALTERED) for each in group.values()),
    *(each.fault for group in (network.LOST, network.SLOW) for each in group.values()),
    *(each.fault for group in (agent_side.SLOW, agent_side.BROKEN) for each in group.values()),
    agent_side.LOST_ANSWER,
    agent_side.EMBEDDED,
    agent_side.IN_WRITES,
    agent_side.IN_PIECES,
    agent_side.CLIENT_DISCONNECTED,
)
