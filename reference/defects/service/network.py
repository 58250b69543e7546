"""Services where one connection blocks or disturbs others."""

from __future__ import annotations

from gateproof.reference.defects.service.row import defect
from gateproof.reference.deviations import held_locks, http_readers
from gateproof.reference.service.upstream import Patience

_OUTAGE = held_locks.Outage()
# The reference has shorter timeouts for gateway and merchant only to keep runs short.
_AS_USUAL = Patience(tries=1, answer_s=10)

DEFECTS = (
    defect(
        "one-body-at-a-time (ROBUST-03): The service reads one body at a time; a slow body blocks all other "
        "requests.",
        around=held_locks.reading_one_body_at_a_time(),
    ),
    defect(
        "one-head-at-a-time (ROBUST-03): The service reads one request head at a time; an incomplete head "
        "blocks all other requests.",
        listen=http_readers.reading_at_most(1, heads_alone=True),
    ),
    defect(
        "four-requests-at-most (ROBUST-03): The service reads at most four requests at a time and never "
        "gives up an incomplete one.",
        listen=http_readers.reading_at_most(4),
    ),
    defect(
        "greeting-in-the-accept-loop (ROBUST-03): The service accepts a connection only after the previous "
        "one has sent its first octet.",
        listen=http_readers.accepting_after_first_byte(),
    ),
    defect(
        "operation-locked-over-the-network (ROBUST-03): The service executes one operation at a time, and "
        "holds the lock while it reads the body.",
        around=held_locks.one_at_a_time("/orders"),
        patience=_AS_USUAL,
    ),
    defect(
        "lock-lost-with-an-agent (ROBUST-02 ROBUST-03 SERVE-01 SERVE-02): If an agent disconnects in the "
        "middle of a request, the lock of the operation is not released.",
        around=held_locks.lock_lost_with_a_client("/orders"),
    ),
    defect(
        "bad-chunk-breaks-the-worker (ROBUST-02 ROBUST-03 SERVE-01 SERVE-02): An invalid chunk ends the "
        "worker process, and the start of a new one takes long.",
        listen=http_readers.breaking_on_bad_chunks(_OUTAGE),
        around=held_locks.without_a_worker(_OUTAGE),
    ),
    defect(
        "large-body-read-as-requests (ROBUST-02): The service refuses a body that is too large after the "
        "head, and then reads the body as requests.",
        listen=http_readers.reading_on_after_a_refusal(),
    ),
)
