"""Gateways in which one connection disturbs the requests of others."""

from __future__ import annotations

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations import held_locks, http_readers
from gateproof.reference.gateway.policy.vault import MerchantAnswer, Verdict, refresh_verdict


def broken_line_is_a_no(answer: MerchantAnswer) -> Verdict:
    """Treats a connection that breaks without a response as a rejection."""
    return "rejected" if answer.trouble == "connection" else refresh_verdict(answer)


_OUTAGE = held_locks.Outage()

DEFECTS = (
    defect(
        "one-body-at-a-time (ROBUST-03): The gateway reads one request body at a time; an incomplete body "
        "blocks all other requests.",
        around=held_locks.reading_one_body_at_a_time(),
    ),
    defect(
        "one-head-at-a-time (ROBUST-03): The gateway reads one request head at a time; an incomplete head "
        "blocks all other connections.",
        listen=http_readers.reading_at_most(1, heads_alone=True),
    ),
    defect(
        "four-requests-at-most (ROBUST-03 ROBUST-05): The gateway reads at most four requests at a time and "
        "has no timeout for incomplete ones.",
        listen=http_readers.reading_at_most(4),
    ),
    defect(
        "greeting-in-the-accept-loop (ROBUST-03): The gateway accepts the next connection only after the "
        "one before it has sent its first byte.",
        listen=http_readers.accepting_after_first_byte(),
    ),
    defect(
        "vault-locked-over-the-network (ROBUST-03): The gateway handles one redemption at a time; all "
        "others wait while one of them waits for a merchant.",
        around=held_locks.one_at_a_time(),
    ),
    defect(
        "lock-lost-with-a-client (ROBUST-02): If a client disconnects during a registration, the gateway "
        "does not release its lock, and later registrations fail.",
        around=held_locks.lock_lost_with_a_client(),
    ),
    defect(
        "bad-chunk-breaks-the-worker (ROBUST-02): An invalid chunk in a body crashes the worker; the "
        "gateway answers 502 until a new worker has started.",
        listen=http_readers.breaking_on_bad_chunks(_OUTAGE),
        around=held_locks.without_a_worker(_OUTAGE),
    ),
    defect(
        "large-body-read-as-requests (ROBUST-02): The gateway answers 413 to the head of a request with a "
        "large body, and then parses the body as further requests.",
        listen=http_readers.reading_on_after_a_refusal(),
    ),
    defect(
        "refresh-nobody-ends-without-its-caller (ROBUST-02): If a caller disconnects during a refresh, the "
        "refresh is cancelled, and later redemptions of that merchant token wait for it forever.",
        vault_factory=held_locks.UnfinishedRefreshVault,
        around=held_locks.cancelled_on_disconnect(),
    ),
    defect(
        "first-answer-for-two-requests (REDEEM-12): If two requests are pipelined on one connection, the "
        "second one gets the response to the first.",
        listen=http_readers.noticing_early_requests(),
        around=held_locks.first_answer_for_both(),
    ),
    defect(
        "first-piece-of-a-body (REG-01): If a registration body arrives in several parts, the gateway reads "
        "only the first part.",
        around=held_locks.first_piece_alone(),
    ),
    defect(
        "broken-line-is-a-no (VAULT-06): The gateway treats a broken connection to the merchant as a "
        "rejection of the refresh token.",
        refresh_verdict=broken_line_is_a_no,
    ),
)
