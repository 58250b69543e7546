"""Agents that repeat a refused or failed request in a way that is not allowed."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from gateproof.reference.agent.policy import authorization, exchange, operation, registration
from gateproof.reference.agent.policy.authorization import Attempt
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.operation import Ask
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer, Outgoing, with_query
from gateproof.reference.defects.agent.authorization import with_plus
from gateproof.reference.defects.agent.row import defect
from gateproof.reference.defects.agent.stored_state import state_file

NONE, BASIC = "none", "client_secret_basic"


def registering_again(failed: Callable[[Answer], bool], **members: Any) -> dict[str, Any]:
    """Repeats a failed registration with these members changed."""

    def followed(asked: Outgoing, answer: Answer) -> Outgoing | None:
        record = json.loads(asked.body) if asked.body.startswith(b"{") else {}
        if "redirect_uris" not in record or not failed(answer) or record == {**record, **members}:
            return None
        return replace(asked, body=json.dumps({**record, **members}).encode())

    return {"followed": followed}


def another_method_once_rejected() -> dict[str, Any]:
    """Replaces a rejected client by one with client_secret_basic."""

    def starts_over(answer: Answer) -> bool:
        if answer.document().get("error") == "invalid_client":
            state_file("clients.json").unlink()
            state_file("rejected").touch()
        return exchange.starts_over(answer)

    def record(settings: Settings) -> dict[str, Any]:
        said = registration.registration_record(settings)
        return said | ({"token_endpoint_auth_method": BASIC} if state_file("rejected").exists() else {})

    return {"starts_over": starts_over, "registration_record": record}


def sent_again(failed: Callable[[Answer], bool], otherwise: Callable[[Outgoing], Outgoing]) -> dict[str, Any]:
    """Repeats a failed exchange, changed by `otherwise`."""
    return {"sent_again": lambda asked, answer: otherwise(asked) if failed(answer) else None}


def with_basic(asked: Outgoing) -> Outgoing:
    fields = dict(parse_qsl(asked.body.decode()))
    pair = f"{fields.pop('client_id')}:{fields.pop('client_secret')}"
    header = f"Basic {base64.b64encode(pair.encode()).decode()}"
    return replace(asked, headers={**asked.headers, "Authorization": header}, body=urlencode(fields).encode())


def as_json(asked: Outgoing) -> Outgoing:
    fields = dict(parse_qsl(asked.body.decode()))
    headers = {**asked.headers, "Content-Type": "application/json"}
    return replace(asked, headers=headers, body=json.dumps(fields).encode())


def in_the_query(helpless: Callable[[Answer], bool]) -> dict[str, Any]:
    """Repeats a call with the token in the query if `helpless` is true of the answer."""

    def operate(settings: Settings, ask: Ask, authorization: Mapping[str, str]) -> Answer:
        answer = operation.operate(settings, ask, authorization)
        token = authorization.get("Authorization", "").removeprefix("Bearer ")
        if not token or not helpless(answer):
            return answer
        url = with_query(f"{settings.service_url}/orders", {"access_token": token})
        return ask(Outgoing(method="GET", url=url))

    return {"operate": operate}


def without_openid_once_failed() -> dict[str, Any]:
    """Omits `openid` in all runs after an exchange that failed with 5xx."""

    def told(step: str, facts: Mapping[str, Any]) -> None:
        if step == "exchange" and facts["answer"].status >= 500:
            state_file("failed").touch()

    def parameters(settings: Settings, client: Client, attempt: Attempt) -> dict[str, str]:
        whole = authorization.authorization_parameters(settings, client, attempt)
        scope = " ".join(("profile", *settings.scopes))
        return whole | ({"scope": scope} if state_file("failed").exists() else {})

    return {"told": told, "authorization_parameters": parameters}


def with_plus_once_got() -> dict[str, Any]:
    """Writes spaces as plus signs in a run that has got a token and has to authorize again."""
    got: list[int] = []

    def told(step: str, facts: Mapping[str, Any]) -> None:
        if step == "exchange" and facts["answer"].status == 200:
            got.append(200)

    def url(endpoints: Endpoints, parameters: Mapping[str, str]) -> str:
        return (with_plus if got else authorization.authorization_url)(endpoints, parameters)

    return {"told": told, "authorization_url": url}


def rejects(answer: Answer) -> bool:
    return answer.document().get("error") == "invalid_client"


DEFECTS = (
    defect(
        "plain-http-where-https-is-refused (AGENT-02): The agent repeats a refused registration with a "
        "redirect URI in plain HTTP.",
        **registering_again(
            lambda answer: answer.status == 400, redirect_uris=["http://127.0.0.1:8080/callback"]
        ),
    ),
    defect(
        "public-where-a-registration-brings-no-client (AGENT-02): If the registration response has no "
        "client_id, the agent registers again with the method `none`.",
        **registering_again(
            lambda answer: answer.status == 201 and "client_id" not in answer.document(),
            token_endpoint_auth_method=NONE,
        ),
    ),
    defect(
        "another-method-once-rejected (AGENT-02): After its client was rejected, the agent registers "
        "another one with client_secret_basic.",
        **another_method_once_rejected(),
    ),
    defect(
        "openid-left-out-once-an-exchange-failed (AGENT-03): After an exchange that failed with 5xx, the "
        "agent omits openid.",
        **without_openid_once_failed(),
    ),
    defect(
        "plus-for-spaces-where-a-fresh-token-is-refused (AGENT-03): After the service refused a fresh "
        "token, the agent writes spaces in the authorization URL as plus signs.",
        **with_plus_once_got(),
    ),
    defect(
        "basic-where-the-token-endpoint-fails (AGENT-06): The agent repeats an exchange that failed with "
        "5xx, with a Basic header.",
        **sent_again(lambda answer: answer.status >= 500, with_basic),
    ),
    defect(
        "basic-where-its-client-is-rejected (AGENT-06): The agent repeats an exchange that failed with "
        "invalid_client, with a Basic header.",
        **sent_again(rejects, with_basic),
    ),
    defect(
        "json-where-a-form-brings-no-tokens (AGENT-06): The agent repeats an exchange as JSON if the 200 "
        "response has no tokens.",
        **sent_again(lambda answer: answer.status == 200 and exchange.tokens_in(answer) is None, as_json),
    ),
    defect(
        "token-in-the-query-where-it-is-forbidden (AGENT-07): The agent repeats a call that got 403, with "
        "the token in the query.",
        **in_the_query(lambda answer: answer.status == 403),
    ),
    defect(
        "token-in-the-query-where-the-service-fails (AGENT-07): The agent repeats a call that got 5xx, with "
        "the token in the query.",
        **in_the_query(lambda answer: answer.status >= 500),
    ),
    defect(
        "token-in-the-query-where-no-orders-come (AGENT-07): The agent repeats a call that got 200 without "
        "JSON, with the token in the query.",
        **in_the_query(lambda answer: answer.status == 200 and not answer.document()),
    ),
)
