"""Agents that send the token to the host to which a call without a token was redirected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gateproof.reference.agent.policy import operation
from gateproof.reference.agent.policy.operation import Ask
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer, Outgoing, redirected
from gateproof.reference.defects.agent.row import defect

_SAME_METHOD = 307


def calling_where_it_was_redirected(counts: Callable[[Answer], bool]) -> dict[str, Any]:
    """Follows a redirect of a call without a token; if it counts, the call with a token goes there, too."""
    moved: list[str] = []

    def followed(asked: Outgoing, answer: Answer) -> Outgoing | None:
        url = redirected(asked, answer)
        if url is None or "Authorization" in asked.headers or not asked.url.endswith("/orders"):
            return None
        moved[:] = [url] if counts(answer) else []
        return replace(asked, url=url)

    def operate(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
        def called(asked: Outgoing) -> Answer:
            return ask(replace(asked, url=moved[0]) if given and moved else asked)

        return operation.operate(settings, called, given)

    return {"followed": followed, "operate": operate}


DEFECTS = (
    defect(
        "token-where-the-last-answer-came-from (AGENT-18): The agent follows a redirect of a call without a "
        "token to any host, and sends the token to that host.",
        **calling_where_it_was_redirected(lambda _answer: True),
    ),
    defect(
        "token-where-307-has-led (AGENT-18): The agent follows redirects of a call without a token to any "
        "host, and sends the token there only after a 307.",
        **calling_where_it_was_redirected(lambda answer: answer.status == _SAME_METHOD),
    ),
)
