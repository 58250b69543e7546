"""Agents that retry without limit, give up for good, or do not report a failure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gateproof.reference.agent.policy import operation
from gateproof.reference.agent.policy.operation import Ask, Tokens
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer, Failed
from gateproof.reference.defects.agent.row import defect
from gateproof.reference.defects.agent.stored_state import state_file

NO_END = 1_000_000
MOST_REFUSED = 2


def with_retries(times: int) -> Callable[[Settings, Ask, Mapping[str, str]], Answer]:
    """Sends a refused token again, up to `times` times."""

    def operate(settings: Settings, ask: Ask, authorization: Mapping[str, str]) -> Answer:
        answer = operation.operate(settings, ask, authorization)
        tries = 0
        while authorization and answer.status == 401 and tries < times:
            answer = operation.operate(settings, ask, authorization)
            tries += 1
        return answer

    return operate


def stale_if_forbidden(fresh_tokens: int, concerned: Callable[[Answer], bool]) -> dict[str, Any]:
    """Takes such a 403 for a stale token, and gets new tokens, up to this number."""
    refused: list[int] = []
    challenge = Answer(status=401)

    def operate(settings: Settings, ask: Ask, authorization: Mapping[str, str]) -> Answer:
        nonlocal challenge
        answer = operation.operate(settings, ask, authorization)
        if answer.status == 401:
            challenge = answer
        if authorization and answer.status == 401:
            refused.append(answer.status)
            if len(refused) > MOST_REFUSED:
                raise Failed("the service refuses fresh tokens")
        return challenge if answer.status == 403 and concerned(answer) else answer

    return {"operate": operate, "fresh_tokens": fresh_tokens}


def until_the_challenge_is_the_same() -> Callable[[Answer], bool]:
    """`if (challenge === lastChallenge) throw`: a challenge with another text is news."""
    last: list[list[str]] = []

    def concerned(answer: Answer) -> bool:
        said = answer.headers_named("www-authenticate")
        is_news = wants_more_scopes(answer) and said not in last
        last[:] = [said]
        return is_news

    return concerned


def wants_more_scopes(answer: Answer) -> bool:
    return any("insufficient_scope" in said for said in answer.headers_named("www-authenticate"))


def given_up(only_where_kept: bool) -> dict[str, Any]:
    """Never calls a service again after it has given up on it."""
    kept: list[bool] = []

    def bearer(tokens: Tokens | None) -> dict[str, str]:
        if state_file("given-up").exists():
            raise Failed("this service refuses this agent")
        kept.append(bool(tokens))
        return operation.bearer(tokens)

    def orders_in(answer: Answer) -> list[Any] | None:
        if answer.status == 401 and (kept[0] or not only_where_kept):
            state_file("given-up").touch()
        return operation.orders_in(answer)

    return {"bearer": bearer, "orders_in": orders_in}


DEFECTS = (
    defect(
        "pending-hammered (AGENT-08): While it gets no code, the agent authorizes again at once, without "
        "limit.",
        authorizations_without_code=NO_END,
        # At this pace it reaches ten authorizations in the time of a run, also on a busy machine.
        after_browser_s=0.3,
    ),
    defect(
        "authorizes-without-end (AGENT-15): The agent replaces refused tokens without limit.",
        fresh_tokens=NO_END,
    ),
    defect(
        "gives-up-late (AGENT-15): The agent gives up only after the service has refused twelve fresh "
        "tokens.",
        fresh_tokens=12,
    ),
    defect(
        "failure-is-success (AGENT-15): The agent exits with code 0 after a failure.", exit_code_of_failure=0
    ),
    defect(
        "refused-token-tried-without-end (AGENT-15 AGENT-09 AGENT-11): The agent sends a refused token "
        "again without limit.",
        operate=with_retries(NO_END),
    ),
    defect(
        "refused-token-tried-twenty-five-times (AGENT-15): The agent sends a refused token 25 times.",
        operate=with_retries(24),
    ),
    defect(
        "steps-up-without-end (AGENT-15): The agent gets new tokens without limit while the service answers "
        "insufficient_scope.",
        **stale_if_forbidden(NO_END, wants_more_scopes),
    ),
    defect(
        "steps-up-until-the-challenge-is-the-same (AGENT-15): The agent gets new tokens without limit while "
        "the service answers insufficient_scope with a challenge that differs from the last one.",
        **stale_if_forbidden(NO_END, until_the_challenge_is_the_same()),
    ),
    defect(
        "bare-403-without-end (AGENT-15): The agent takes a 403 without insufficient_scope for a stale "
        "token, and authorizes again without limit.",
        **stale_if_forbidden(NO_END, lambda answer: not wants_more_scopes(answer)),
    ),
    defect(
        "gives-up-for-good (ROBUST-02): Once a service has refused its fresh tokens, the agent never calls "
        "it again.",
        **given_up(only_where_kept=False),
    ),
    defect(
        "gives-up-for-good-with-a-kept-token (ROBUST-02): Once a service has refused a stored token and the "
        "fresh ones after it, the agent never calls it again.",
        **given_up(only_where_kept=True),
    ),
)
