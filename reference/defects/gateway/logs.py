"""Gateways that log a credential, but only when something has gone wrong."""

from __future__ import annotations

from collections.abc import Callable

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked
from gateproof.reference.deviations.leaks import REDEMPTION, logging, members_of


def of_redemptions(header: str, is_so: Callable[[Answered], bool]) -> Callable[[Asked, Answered], str]:
    """A handler of these answers prints a header of the request."""
    return lambda asked, answered: f"{answered.status}: {asked.headers.get(header, '')}" * is_so(answered)


def saying(error: str) -> Callable[[Answered], bool]:
    return lambda answered: answered.status >= 400 and members_of(answered).get("error") == error


DEFECTS = (
    defect(
        "bearer-of-a-crash-in-the-log (SECRET-05): Redemption logs the Authorization header of what it "
        "answers with 5xx.",
        around=logging(of_redemptions("authorization", lambda answered: answered.status >= 500), REDEMPTION),
    ),
    defect(
        "bearer-of-a-410-in-the-log (SECRET-05): Redemption logs the Authorization header of whoever has to "
        "authorize again.",
        around=logging(of_redemptions("authorization", lambda answered: answered.status == 410), REDEMPTION),
    ),
    defect(
        "bearer-beside-a-wrong-proxy-token-in-the-log (SECRET-05): Redemption logs the Authorization header "
        "that came with a Proxy token that it does not believe.",
        around=logging(of_redemptions("authorization", saying("invalid_proxy_token")), REDEMPTION),
    ),
    defect(
        "bearer-without-the-scope-in-the-log (SECRET-05): Redemption logs the Authorization header of a "
        "token that may not redeem.",
        around=logging(of_redemptions("authorization", saying("insufficient_scope")), REDEMPTION),
    ),
    defect(
        "proxy-token-of-a-410-in-the-log (SECRET-08): Redemption logs the Proxy token with which a user's "
        "need to authorize again came to light.",
        around=logging(of_redemptions("x-proxy-token", lambda answered: answered.status == 410), REDEMPTION),
    ),
)
