"""Values of `state`, and the claim that one came back."""

from __future__ import annotations

import secrets
from string import ascii_letters

from gateproof.conformance.kit.gateway.gateway import Visit
from gateproof.conformance.suite.claims import expect, require

STATES = {
    "ordinary": lambda: secrets.token_urlsafe(16),
    "reserved": lambda: secrets.token_urlsafe(8) + "!*'();:@&=+$,/?#[]%\"<>\\^`{|}~-._",
    "looks-encoded": lambda: secrets.token_urlsafe(8) + "%20%2B%00&code=x&amp;",
    "outer-spaces": lambda: f" {secrets.token_urlsafe(16)} ",
    "inner-space": lambda: f"{secrets.token_urlsafe(8)} {secrets.token_urlsafe(8)}",
    "long": lambda: "".join(secrets.choice(ascii_letters) for _ in range(512)),
    "numeric": lambda: "00" + str(secrets.randbelow(10**12)),
}


def state_came_back(visit: Visit, state: str) -> None:
    """The redirect has exactly this `state`; one without any expected parameter is not judged."""
    require.that(
        visit.sent_to is None or any(name in {"code", "error", "state"} for name, _ in visit.sent()),
        "authorization",
        expected="a redirect with code, error or state, or no redirect",
        got=visit.outcome(),
    )
    expect.equal(visit.parameter("state"), state, f"state after {visit.outcome()}")
