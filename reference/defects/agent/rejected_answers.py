"""Agents that print an answer with secrets which they reject."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gateproof.reference.agent.policy import exchange, registration
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.wire import Answer, Failed
from gateproof.reference.defects.agent.row import defect

_CREATED = 201


def printing_registrations(are_good: Callable[[Mapping[str, Any]], bool]) -> Callable[[Answer], Client]:
    """Validates a registration more strictly; the error contains the whole answer."""

    def registered(answer: Answer) -> Client:
        document = answer.document()
        if answer.status == _CREATED and not are_good(document):
            raise Failed(f"not a registration: {document}")
        return registration.registered(answer)

    return registered


def printing_other_statuses(answer: Answer) -> Client:
    """Accepts the status 201 alone, as some SDKs do; the error contains the whole answer."""
    if answer.status != _CREATED:
        raise Failed(f"registration failed with status {answer.status}: {answer.body.decode()}")
    return registration.registered(answer)


def printing_tokens(answer: Answer) -> dict[str, Any] | None:
    """Refuses a token answer with the status 201; the error contains its text."""
    if answer.status == _CREATED:
        raise Failed(f"unexpected token response: {answer.body.decode()}")
    return exchange.tokens_in(answer)


DEFECTS = (
    defect(
        "registration-without-an-id-printed (AGENT-14): If a registration answer has no client_id, the agent "
        "prints the whole answer in its error.",
        registered=printing_registrations(lambda document: "client_id" in document),
    ),
    defect(
        "registration-for-another-method-printed (AGENT-14): If a registration answer has another "
        "authentication method, the agent prints the whole answer in its error.",
        registered=printing_registrations(
            lambda document: document.get("token_endpoint_auth_method") == "client_secret_post"
        ),
    ),
    defect(
        "registration-with-a-strange-expiry-printed (AGENT-14): If client_secret_expires_at is no number, "
        "the agent prints the whole registration answer in its error.",
        registered=printing_registrations(
            lambda document: isinstance(document.get("client_secret_expires_at", 0), int)
        ),
    ),
    defect(
        "registration-of-another-status-printed (AGENT-14): If a registration answer has not the status 201, "
        "the agent prints it in its error.",
        registered=printing_other_statuses,
    ),
    defect(
        "tokens-of-another-status-printed (AGENT-12 AGENT-14): If a token answer has the status 201, the "
        "agent prints it in its error.",
        tokens_in=printing_tokens,
    ),
)
