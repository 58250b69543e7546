"""Agents that show what is left of an authorization that came to nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reference.agent.policy import authorization, exchange
from reference.agent.policy.authorization import Attempt
from reference.agent.policy.exchange import ExchangeFacts
from reference.agent.policy.registration import Client
from reference.agent.settings import Settings
from reference.agent.wire import Outgoing
from reference.defects.agent_defect import AgentDefect, defect


def one_table_for_both() -> dict[str, Any]:
    """What was sent with the first exchange of a run stays in the table of which all requests are made."""
    sent: dict[str, str] = {}

    def request(facts: ExchangeFacts) -> Outgoing:
        sent.update(client_secret=facts.client.client_secret, code_verifier=facts.attempt.verifier)
        return exchange.token_request(facts)

    def parameters(settings: Settings, client: Client, attempt: Attempt) -> dict[str, str]:
        return sent | authorization.authorization_parameters(settings, client, attempt)

    return {"token_request": request, "authorization_parameters": parameters}


def what_came_to_nothing() -> dict[str, Any]:
    """Whoever wonders at the end why nothing came is told what it was waited for with."""
    waiting: list[str] = []

    def told(step: str, facts: Mapping[str, Any]) -> None:
        if step == "authorization":
            waiting[:] = [facts["attempt"].verifier]
        elif step == "exchange":
            waiting.clear()

    def around(run: Callable[[], int]) -> int:
        code = run()
        if waiting:
            print(f"no code came for {waiting[0]}.")
        return code

    return {"told": told, "around": around}


# The rules named second make the runs in which it shows.
LEFTOVERS: tuple[AgentDefect, ...] = (
    defect(
        "secret-and-verifier-in-a-later-address",
        "The second authorization of a run has the secret and the verifier of the first exchange in it.",
        "AGENT-14 AGENT-10",
        **one_table_for_both(),
    ),
    defect(
        "verifier-printed-where-no-code-comes",
        "The verifier is printed where no code comes for it.",
        "AGENT-14 AGENT-08",
        **what_came_to_nothing(),
    ),
)
