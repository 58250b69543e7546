"""Agents that are correct in the first run, but wrong in later runs or after an error."""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from gateproof.reference.agent.policy import authorization, discovery, exchange, operation, registration
from gateproof.reference.agent.policy.authorization import Attempt, Query
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.exchange import ExchangeFacts
from gateproof.reference.agent.policy.operation import Ask, Tokens
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.policy.renewal import refreshed
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer, Failed, Outgoing, with_query
from gateproof.reference.defects.agent.exchange import changed, exchange_again_on_redirect, with_basic
from gateproof.reference.defects.agent.row import defect
from gateproof.reference.defects.agent.stored_state import state_file

_TOKENS = "tokens.json"


def has_stored_token() -> bool:
    """Whether an earlier run got a token."""
    return state_file(_TOKENS).exists()


def without_openid_later(settings: Settings, client: Client, attempt: Attempt) -> dict[str, str]:
    whole = authorization.authorization_parameters(settings, client, attempt)
    return whole | {"scope": " ".join(("profile", *settings.scopes))} if has_stored_token() else whole


def with_basic_later(facts: ExchangeFacts) -> Outgoing:
    return with_basic(facts) if has_stored_token() else exchange.token_request(facts)


def in_the_query_later(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
    """Sends a stored token in the query, too."""
    token = given.get("Authorization", "").removeprefix("Bearer ")

    def tell(asked: Outgoing) -> Answer:
        kept = bool(token) and token in state_file(_TOKENS).read_text() and state_file("again").exists()
        return ask(replace(asked, url=with_query(asked.url, {"access_token": token})) if kept else asked)

    answer = operation.operate(settings, tell, given)
    if token and answer.status == 200:
        state_file("again").touch()
    return answer


def with_two_callbacks() -> dict[str, Any]:
    """Registers two callbacks; later authorizations use the second, but every exchange names the first."""

    def second(settings: Settings) -> str:
        return f"{settings.callback_url}?again=1"

    def both(settings: Settings) -> dict[str, Any]:
        record = registration.registration_record(settings)
        return record | {"redirect_uris": [settings.callback_url, second(settings)]}

    def by_one(settings: Settings, client: Client, attempt: Attempt) -> dict[str, str]:
        whole = authorization.authorization_parameters(settings, client, attempt)
        return whole | ({"redirect_uri": second(settings)} if has_stored_token() else {})

    return {"registration_record": both, "authorization_parameters": by_one}


def no_proof_after_a_refusal() -> dict[str, Any]:
    made: list[ExchangeFacts] = []

    def change(facts: ExchangeFacts, fields: dict[str, str]) -> dict[str, str]:
        made.append(facts)
        return fields if len(made) == 1 else fields | {"code_verifier": ""}

    return changed(change)


def first_proof_for_all() -> dict[str, Any]:
    """Sends a wrong verifier in every exchange of a run except the first."""
    made: list[ExchangeFacts] = []

    def change(facts: ExchangeFacts, fields: dict[str, str]) -> dict[str, str]:
        made.append(facts)
        return fields if len(made) == 1 else fields | {"code_verifier": fields["code_verifier"][::-1]}

    return changed(change)


def first_document_for_ever(server: str, document: Mapping[str, Any]) -> Endpoints:
    """Uses the first discovery document for ever, whatever it contains."""
    kept = state_file("discovery.json")
    if not kept.exists():
        kept.write_text(json.dumps(dict(document)))
    return discovery.endpoints(server, json.loads(kept.read_text()))


def later_document_for_ever(server: str, document: Mapping[str, Any]) -> Endpoints:
    """Uses the first discovery document that it reads after it has a token for ever."""
    return (
        first_document_for_ever(server, document)
        if has_stored_token()
        else discovery.endpoints(server, document)
    )


def refreshed_by(
    ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens
) -> tuple[dict[str, Any] | None, Answer | None]:
    """Returns the tokens that a refresh brought, and the answer to it."""
    came: list[Answer] = []

    def listening(asked: Outgoing) -> Answer:
        came.append(ask(asked))
        return came[-1]

    return refreshed(listening, endpoints, client, kept), next(iter(came), None)


def whatever_a_refresh_brings(
    ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens
) -> dict[str, Any] | None:
    """Uses the body of a 5xx answer to a refresh as tokens."""
    if "refresh_token" not in kept:
        raise Failed("there is nothing to refresh the token with")
    tokens, answer = refreshed_by(ask, endpoints, client, kept)
    if answer is not None and answer.status >= 500:
        return {"access_token": "", **answer.document()}
    return tokens and {**kept, **tokens}


def complaint(step: str, facts: Mapping[str, Any]) -> None:
    """Sends the code of a failed exchange to the service."""
    if step == "exchange" and facts["answer"].status != 200:
        url = f"{os.environ['GATEPROOF_SERVICE_URL']}/support"
        body = json.dumps({"failed": facts["answer"].status, "code": facts["facts"].code}).encode()
        trust = ssl.create_default_context(cafile=os.environ["GATEPROOF_CA_FILE"])
        with suppress(HTTPError):
            urlopen(Request(url, body), timeout=10, context=trust).close()  # noqa: S310


def any_of_them(query: Query, attempt: Attempt) -> bool:
    return attempt.state in query.get("state", ())


def once_more_for_every_redirect() -> dict[str, Any]:
    """Exchanges the code again for a second redirect, even if its text differs."""
    return exchange_again_on_redirect(lambda came: len(came) > 1) | {"is_ours": any_of_them}


DEFECTS = (
    defect(
        "later-openid-left-out (AGENT-03): Once an install has a token, the agent omits openid.",
        authorization_parameters=without_openid_later,
    ),
    defect(
        "later-exchange-with-basic (AGENT-06): Once an install has a token, the agent sends its credentials "
        "in a Basic header.",
        token_request=with_basic_later,
    ),
    defect(
        "later-redirect-uri-not-repeated (AGENT-06): The agent registers two redirect URIs; later "
        "authorizations use the second, but the exchange names the first.",
        **with_two_callbacks(),
    ),
    defect(
        "later-token-in-the-query (AGENT-07): The agent sends a stored token also in the query.",
        operate=in_the_query_later,
    ),
    defect(
        "no-verifier-after-a-refusal (AGENT-10 AGENT-06 AGENT-15): After a refused code, the exchange has "
        "no code_verifier.",
        **no_proof_after_a_refusal(),
    ),
    defect(
        "wrong-verifier-after-a-refusal (AGENT-10 AGENT-06): After a refused code, the agent sends a wrong "
        "code_verifier.",
        **first_proof_for_all(),
    ),
    defect(
        "half-a-document-kept (ROBUST-02 AGENT-13): The agent keeps the first discovery document for ever, "
        "even if it is incomplete.",
        endpoints=first_document_for_ever,
    ),
    defect(
        "later-half-a-document-kept (ROBUST-02): Once it has a token, the agent keeps the next discovery "
        "document for ever, even if it is incomplete.",
        endpoints=later_document_for_ever,
    ),
    defect(
        "failure-kept-for-a-token (ROBUST-02): The agent stores the body of a 5xx answer to a refresh in "
        "place of its tokens.",
        renewed=whatever_a_refresh_brings,
        worth_keeping=dict,
    ),
    defect(
        "failure-told-to-the-service (AGENT-14 AGENT-10): The agent sends the code of a failed exchange to "
        "the service.",
        told=complaint,
    ),
    defect(
        "redirects-told-apart-by-their-text (AGENT-10): The agent exchanges the code again when a second "
        "redirect arrives, also if that redirect contains the state twice.",
        **once_more_for_every_redirect(),
    ),
)
