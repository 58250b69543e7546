"""Agents that do not know when to stop, or do not say that they did."""

from __future__ import annotations

from collections.abc import Mapping

from reference.agent.policy import operation
from reference.agent.policy.operation import Ask
from reference.agent.settings import Settings
from reference.agent.wire import Answer
from reference.defects.agent_defect import AgentDefect, defect

NO_END = 1_000_000


def until_it_works(settings: Settings, ask: Ask, authorization: Mapping[str, str]) -> Answer:
    """A token that is refused is tried again and again."""
    answer = operation.operate(settings, ask, authorization)
    tries = 0
    while authorization and answer.status == 401 and tries < NO_END:
        answer = operation.operate(settings, ask, authorization)
        tries += 1
    return answer


TROUBLE: tuple[AgentDefect, ...] = (
    defect(
        "pending-hammered",
        "Without a code it authorizes again at once, without end.",
        "AGENT-08",
        authorizations_without_code=NO_END,
        user_patience_s=1.5,
    ),
    defect(
        "authorizes-without-end", "A refused token is replaced without end.", "AGENT-15", fresh_tokens=NO_END
    ),
    defect(
        "gives-up-late", "Twelve fresh tokens are refused until it gives up.", "AGENT-15", fresh_tokens=12
    ),
    defect("failure-is-success", "The exit code of a failure is 0.", "AGENT-15", exit_code_of_failure=0),
    defect(
        "refused-token-tried-without-end",
        "A refused token is tried without end.",
        "AGENT-15 AGENT-09 AGENT-11",
        operate=until_it_works,
    ),
)
