"""The claim that the body of an answer is JSON or empty."""

from __future__ import annotations

from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.wire.exchange import NOT_JSON, Exchange

# Statuses with which the gateway itself answers a request that it could parse.
JUDGED = frozenset({200, 201, 400, 401, 403, 404, 409, 410, 422})


def expect_json(answer: Exchange) -> None:
    """Expects a JSON body or none; answers with other statuses are not judged."""
    if answer.status not in JUDGED:
        raise LeftOut(f"answers with {answer.outcome()} are not judged")
    body = answer.answer.body if answer.answer is not None else b""
    expect.that(
        not body or answer.json() is not NOT_JSON,
        f"body of {answer.step}, {answer.outcome()}",
        expected="JSON, or nothing",
        got="a body that is not JSON",
        exchange=answer,
    )
