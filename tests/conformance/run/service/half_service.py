"""`python half_service.py LAST STATUS …` serves a service that works up to one step and refuses the rest.

Everything up to the step is the honest reference's. After it, every operation gets the same refusal, in the
words that would be right for some of them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.command import main as serve_service
from gateproof.reference.service.policies import Policies
from gateproof.reference.service.policy.metadata_and_challenge import ChallengeFacts
from gateproof.reference.service.upstream import Unavailable

# Agents are told where to go; tokens are looked at; merchant tokens are redeemed, and orders fetched.
STEPS = ("introduction", "validation", "merchant")
SAYING = {
    401: b'{"error": "invalid_token"}',
    403: b'{"error": "forbidden"}',
    503: b'{"error": "unavailable"}',
}
OPERATIONS = ("/orders", "/mcp")


def no_further() -> None:
    raise Unavailable


def working_up_to(last: str, status: int) -> Policies:
    honest = Policies()

    def refused(asked: Asked, answered: Answered, backend: Backend) -> Answered:
        settings = backend.settings
        where = f"{settings.service_url}{honest.metadata_path(settings)}"
        facts = ChallengeFacts(
            metadata_url=where, authorization_server=settings.authorization_server, given=True
        )
        said = [("www-authenticate", value) for value in honest.challenges(facts)] if status == 401 else []
        given = "authorization" in asked.headers
        wrong = answered.status in (200, 503) or last == "introduction"
        if asked.path not in OPERATIONS or not given or not wrong:
            return answered
        headers = (("content-type", "application/json"), ("cache-control", "no-store"), *said)
        return replace(answered, status=status, headers=headers, body=SAYING[status])

    asks_nobody: dict[str, Any] = {} if last == "merchant" else {"proxy_slot": no_further}
    return replace(honest, around=altering_answers(refused), **asks_nobody)


def main(argv: Sequence[str]) -> int:
    last, status, *rest = argv
    return serve_service(rest, working_up_to(last, int(status)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
