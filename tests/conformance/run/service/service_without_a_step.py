"""`python service_without_a_step.py STEP …` serves a service that answers one step of the catalogue wrongly.

Everything else is the reference's. The answers to that step are 500, which no rule accepts. The step "life of
the process" ends the process at the first operation that succeeds.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.command import main as serve_service
from gateproof.reference.service.policies import Policies

WRONG = b'{"error": "unavailable"}'
OPERATIONS = ("/orders", "/mcp")


def _is_operation(asked: Asked, answered: Answered, status: int) -> bool:
    return asked.path in OPERATIONS and answered.status == status


IS: Mapping[str, Callable[[Asked, Answered], bool]] = {
    "metadata": lambda asked, answered: "/.well-known/" in asked.path and answered.status == 200,
    "operation without a token": lambda asked, answered: (
        _is_operation(asked, answered, 401) and "authorization" not in asked.headers
    ),
    "operation": lambda asked, answered: _is_operation(asked, answered, 200),
    "life of the process": lambda asked, answered: (
        _is_operation(asked, answered, 200) and os._exit(70)  # type: ignore[func-returns-value]
    ),
}


def without(step: str) -> Policies:
    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        if not IS[step](asked, answered):
            return answered
        headers = (("content-type", "application/json"), ("cache-control", "no-store"))
        return replace(answered, status=500, headers=headers, body=WRONG)

    return replace(Policies(), around=altering_answers(change))


def main(argv: Sequence[str]) -> int:
    step, *rest = argv
    return serve_service(rest, without(step))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
