"""Gateways that let one connection spoil what others want."""

from __future__ import annotations

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations import held_locks, http_readers
from gateproof.reference.gateway.policy.vault import MerchantAnswer, Verdict, refresh_verdict


def broken_line_is_a_no(answer: MerchantAnswer) -> Verdict:
    """A connection that ends without an answer is taken for one."""
    return "rejected" if answer.trouble == "connection" else refresh_verdict(answer)


_DOWNFALL = held_locks.Downfall()

DEFECTS = (
    defect(
        "one-body-at-a-time (ROBUST-03): While one client's body is on its way, nobody else's is read.",
        around=held_locks.reading_one_body_at_a_time(),
    ),
    defect(
        "one-head-at-a-time (ROBUST-03): While one client is in the middle of a head, nobody else is read.",
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
        "vault-locked-over-the-network (ROBUST-03): While the gateway waits for one user's merchant, nobody "
        "else can redeem.",
        around=held_locks.one_at_a_time(),
    ),
    defect(
        "lock-lost-with-a-client (ROBUST-02): A client that goes away in the middle of a registration "
        "leaves its lock behind.",
        around=held_locks.lock_lost_with_a_client(),
    ),
    defect(
        "bad-chunk-breaks-the-worker (ROBUST-02): A chunk that is none takes the worker down, and a new one "
        "takes its time.",
        listen=http_readers.breaking_on_bad_chunks(_DOWNFALL),
        around=held_locks.without_a_worker(_DOWNFALL),
    ),
    defect(
        "large-body-read-as-requests (ROBUST-02): A body that is too large is refused at its head, and then "
        "read as requests.",
        listen=http_readers.reading_on_after_a_refusal(),
    ),
    defect(
        "refresh-nobody-ends-without-its-caller (ROBUST-02): A caller that hangs up during a refresh leaves "
        "everybody after it waiting for the end of that.",
        vault_at_work=held_locks.OrphansVault,
        around=held_locks.ending_with_its_caller(),
    ),
    defect(
        "first-answer-for-two-requests (REDEEM-12): Of two requests that come in a row, the second gets the "
        "answer of the first.",
        listen=http_readers.noticing_early_requests(),
        around=held_locks.first_answer_for_both(),
    ),
    defect(
        "first-piece-of-a-body (REG-01): Of a registration that comes in pieces, the first is taken for all "
        "of it.",
        around=held_locks.first_piece_alone(),
    ),
    defect(
        "broken-line-is-a-no (VAULT-06): A connection to the merchant that breaks is taken for a rejected "
        "refresh token.",
        refresh_verdict=broken_line_is_a_no,
    ),
)
