"""The exchange of a code for tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gateproof.reference.agent.policy.authorization import Attempt
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer, Outgoing, form


@dataclass(frozen=True, kw_only=True, slots=True)
class ExchangeFacts:
    """Everything that an exchange needs."""

    settings: Settings
    endpoints: Endpoints
    client: Client
    attempt: Attempt
    code: str = field(repr=False)
    # All parameters of the redirect.
    query: Mapping[str, Any] = field(default_factory=dict, repr=False)


def token_request(facts: ExchangeFacts) -> Outgoing:
    """A form with the credentials in its body, to the endpoint from discovery."""
    fields = {
        "grant_type": "authorization_code",
        "code": facts.code,
        "redirect_uri": facts.settings.callback_url,
        "client_id": facts.client.client_id,
        "client_secret": facts.client.client_secret,
        "code_verifier": facts.attempt.verifier,
    }
    return form(facts.endpoints.token, fields)


def tokens_in(answer: Answer) -> dict[str, Any] | None:
    """The token answer; None if it has no access token."""
    document = answer.document()
    return document if answer.status == 200 and isinstance(document.get("access_token"), str) else None


def starts_over(answer: Answer) -> bool:
    """True for a refused code, which cannot be used again: a new authorization may succeed."""
    return answer.document().get("error") == "invalid_grant"
