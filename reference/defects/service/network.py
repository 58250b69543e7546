"""Services that let one connection spoil what others want."""

from __future__ import annotations

from gateproof.reference.defects.service.row import defect
from gateproof.reference.deviations import held_locks, http_readers
from gateproof.reference.service.upstream import Patience

_DOWNFALL = held_locks.Downfall()
# The honest service gives up on gateway and merchant so soon that runs are short.
_AS_USUAL = Patience(tries=1, answer_s=10)

DEFECTS = (
    defect(
        "one-body-at-a-time (ROBUST-03): While one agent's body is on its way, nobody else's is read.",
        around=held_locks.reading_one_body_at_a_time(),
    ),
    defect(
        "one-head-at-a-time (ROBUST-03): While one agent is in the middle of a head, nobody else is read.",
        listen=http_readers.reading_at_most(1, heads_alone=True),
    ),
    defect(
        "four-requests-at-most (ROBUST-03): Four requests can be on their way in at a time, and none of "
        "them is ever given up.",
        listen=http_readers.reading_at_most(4),
    ),
    defect(
        "greeting-in-the-accept-loop (ROBUST-03): The next connection is accepted once the one before has "
        "said something.",
        listen=http_readers.greeting_one_at_a_time(),
    ),
    defect(
        "operation-locked-over-the-network (ROBUST-03): Operations are carried out one at a time, each from "
        "before its body is read.",
        around=held_locks.one_at_a_time("/orders"),
        patience=_AS_USUAL,
    ),
    defect(
        "lock-lost-with-an-agent (ROBUST-02 ROBUST-03 SERVE-01 SERVE-02): An agent that goes away in the "
        "middle of a request leaves its lock behind.",
        around=held_locks.lock_lost_with_a_client("/orders"),
    ),
    defect(
        "bad-chunk-breaks-the-worker (ROBUST-02 ROBUST-03 SERVE-01 SERVE-02): A chunk that is none takes "
        "the worker down, and a new one takes its time.",
        listen=http_readers.breaking_on_bad_chunks(_DOWNFALL),
        around=held_locks.without_a_worker(_DOWNFALL),
    ),
    defect(
        "large-body-read-as-requests (ROBUST-02): A body that is too large is refused at its head, and then "
        "read as requests.",
        listen=http_readers.reading_on_after_a_refusal(),
    ),
)
