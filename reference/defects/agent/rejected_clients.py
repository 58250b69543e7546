"""Agents that register many clients in one run while the token endpoint rejects them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from gateproof.reference.agent.policy import exchange, registration, renewal
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.operation import Ask, Tokens
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.settings import read_settings
from gateproof.reference.agent.wire import Answer
from gateproof.reference.defects.agent.retries import rejects
from gateproof.reference.defects.agent.row import defect
from gateproof.reference.defects.agent.stopping import NO_END
from gateproof.reference.defects.agent.stored_state import state_file

_UNAUTHORIZED, _ELEVEN = 401, 11


def replacing_its_client(rejected: Callable[[Answer], bool], times: int) -> dict[str, Any]:
    """Deletes a client that is rejected, and starts again with a new one, up to `times` times in a run."""
    without: list[bool] = []

    def starts_over(answer: Answer) -> bool:
        if rejected(answer):
            state_file("clients.json").unlink(missing_ok=True)
            without[:] = [True]
        return exchange.starts_over(answer)

    def around(run: Callable[[], int]) -> int:
        code, left = run(), times
        while without and left > 0:
            without.clear()
            left -= 1
            code = run()
        return code

    return {"starts_over": starts_over, "around": around}


def registering_until_a_refresh_works(
    ask: Ask, endpoints: Endpoints, client: Client, tokens: Tokens
) -> dict[str, Any] | None:
    """`except InvalidClient: self.client = register(); return self.refresh()`."""
    for _ in range(NO_END):
        answer = ask(renewal.refresh_request(endpoints, client, tokens))
        if answer.status != _UNAUTHORIZED:
            return exchange.tokens_in(answer)
        record = registration.registration_record(read_settings(os.environ))
        client = registration.registered(ask(registration.registration_request(endpoints, record)))
    return None


DEFECTS = (
    defect(
        "registers-until-a-refresh-works (AGENT-11): If a refresh is answered with invalid_client, the agent "
        "registers again and repeats the refresh, without limit.",
        renewed=registering_until_a_refresh_works,
        worth_keeping=dict,
    ),
    defect(
        "rejected-client-replaced-without-end (AGENT-11): While the token endpoint answers 401, the agent "
        "registers again at once, without limit.",
        **replacing_its_client(lambda answer: answer.status == _UNAUTHORIZED, NO_END),
    ),
    defect(
        "rejected-client-replaced-eleven-times (AGENT-11): The agent registers again when the token endpoint "
        "answers invalid_client, and gives up only after eleven more clients.",
        **replacing_its_client(rejects, _ELEVEN),
    ),
)
