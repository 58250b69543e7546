"""Gateways that let one connection spoil what others want."""

from __future__ import annotations

from gateproof.reference.defects import connecting, holding
from gateproof.reference.defects.defect import Defect, defect
from gateproof.reference.gateway.policy.vault import MerchantAnswer, Verdict, refresh_verdict


def broken_line_is_a_no(answer: MerchantAnswer) -> Verdict:
    """A connection that ends without an answer is taken for one."""
    return "rejected" if answer.trouble == "connection" else refresh_verdict(answer)


_DOWNFALL = holding.Downfall()

NETWORK: tuple[Defect, ...] = (
    defect(
        "one-body-at-a-time",
        "While one client's body is on its way, nobody else's is read.",
        "ROBUST-03",
        around=holding.reading_one_body_at_a_time(),
    ),
    defect(
        "one-head-at-a-time",
        "While one client is in the middle of a head, nobody else is read.",
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
        "vault-locked-over-the-network",
        "While the gateway waits for one user's merchant, nobody else can redeem.",
        "ROBUST-03",
        around=holding.one_at_a_time(),
    ),
    defect(
        "lock-lost-with-a-client",
        "A client that goes away in the middle of a registration leaves its lock behind.",
        "ROBUST-02",
        around=holding.lock_lost_with_a_client(),
    ),
    defect(
        "bad-chunk-breaks-the-worker",
        "A chunk that is none takes the worker down, and a new one takes its time.",
        "ROBUST-02",
        listen=connecting.breaking_on_bad_chunks(_DOWNFALL),
        around=holding.without_a_worker(_DOWNFALL),
    ),
    defect(
        "large-body-read-as-requests",
        "A body that is too large is refused at its head, and then read as requests.",
        "ROBUST-02",
        listen=connecting.reading_on_after_a_refusal(),
    ),
    defect(
        "refresh-nobody-ends-without-its-caller",
        "A caller that hangs up during a refresh leaves everybody after it waiting for the end of that.",
        "ROBUST-02",
        vault_at_work=holding.OrphansVault,
        around=holding.ending_with_its_caller(),
    ),
    defect(
        "first-answer-for-two-requests",
        "Of two requests that come in a row, the second gets the answer of the first.",
        "REDEEM-12",
        listen=connecting.noticing_early_requests(),
        around=holding.first_answer_for_both(),
    ),
    defect(
        "first-piece-of-a-body",
        "Of a registration that comes in pieces, the first is taken for all of it.",
        "REG-01",
        around=holding.first_piece_alone(),
    ),
    defect(
        "broken-line-is-a-no",
        "A connection to the merchant that breaks is taken for a rejected refresh token.",
        "VAULT-06",
        refresh_verdict=broken_line_is_a_no,
    ),
)
