"""Services that let one connection spoil what others want."""

from __future__ import annotations

from gateproof.reference.defects import connecting, holding
from gateproof.reference.defects.service_defect import ServiceDefect, defect
from gateproof.reference.service.upstream import Patience

_DOWNFALL = holding.Downfall()
# The honest service gives up on gateway and merchant so soon that runs are short.
_AS_USUAL = Patience(tries=1, answer_s=10)

NETWORK: tuple[ServiceDefect, ...] = (
    defect(
        "one-body-at-a-time",
        "While one agent's body is on its way, nobody else's is read.",
        "ROBUST-03",
        around=holding.reading_one_body_at_a_time(),
    ),
    defect(
        "one-head-at-a-time",
        "While one agent is in the middle of a head, nobody else is read.",
        "ROBUST-03",
        listen=connecting.reading_at_most(1, heads_alone=True),
    ),
    defect(
        "four-requests-at-most",
        "Four requests can be on their way in at a time, and none of them is ever given up.",
        "ROBUST-03",
        listen=connecting.reading_at_most(4),
    ),
    defect(
        "greeting-in-the-accept-loop",
        "The next connection is accepted once the one before has said something.",
        "ROBUST-03",
        listen=connecting.greeting_one_at_a_time(),
    ),
    defect(
        "operation-locked-over-the-network",
        "Operations are carried out one at a time, each from before its body is read.",
        "ROBUST-03",
        around=holding.one_at_a_time("/orders"),
        patience=_AS_USUAL,
    ),
    defect(
        "lock-lost-with-an-agent",
        "An agent that goes away in the middle of a request leaves its lock behind.",
        "ROBUST-02 ROBUST-03 SERVE-01 SERVE-02",
        around=holding.lock_lost_with_a_client("/orders"),
    ),
    defect(
        "bad-chunk-breaks-the-worker",
        "A chunk that is none takes the worker down, and a new one takes its time.",
        "ROBUST-02 ROBUST-03 SERVE-01 SERVE-02",
        listen=connecting.breaking_on_bad_chunks(_DOWNFALL),
        around=holding.without_a_worker(_DOWNFALL),
    ),
    defect(
        "large-body-read-as-requests",
        "A body that is too large is refused at its head, and then read as requests.",
        "ROBUST-02",
        listen=connecting.reading_on_after_a_refusal(),
    ),
)
