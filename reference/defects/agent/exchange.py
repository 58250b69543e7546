"""Agents that send the exchange in a wrong form, or send it again."""

from __future__ import annotations

import base64
import json
import os
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qsl
from urllib.request import urlopen

from gateproof.reference.agent.policy import authorization, exchange
from gateproof.reference.agent.policy.authorization import Attempt, Octets
from gateproof.reference.agent.policy.exchange import ExchangeFacts
from gateproof.reference.agent.wire import Answer, Outgoing, form, with_query
from gateproof.reference.defects.agent.row import defect

_ANOTHER_COMES_WITHIN_S = 0.5


def fields_of(facts: ExchangeFacts) -> dict[str, str]:
    return dict(parse_qsl(exchange.token_request(facts).body.decode()))


def changed(change: Callable[[ExchangeFacts, dict[str, str]], dict[str, str]]) -> dict[str, Any]:
    """Sends the same request with changed fields; empty fields are left out."""

    def request(facts: ExchangeFacts) -> Outgoing:
        fields = {name: value for name, value in change(facts, fields_of(facts)).items() if value}
        return form(facts.endpoints.token, fields)

    return {"token_request": request}


def as_json(facts: ExchangeFacts) -> Outgoing:
    body = json.dumps(fields_of(facts)).encode()
    headers = {"Content-Type": "application/json"}
    return Outgoing(method="POST", url=facts.endpoints.token, headers=headers, body=body)


def written_by_hand(facts: ExchangeFacts) -> Outgoing:
    """Builds the form without percent-encoding the values."""
    body = "&".join(f"{name}={value}" for name, value in fields_of(facts).items())
    return replace(exchange.token_request(facts), body=body.encode())


def with_basic(facts: ExchangeFacts) -> Outgoing:
    fields = fields_of(facts)
    pair = f"{fields.pop('client_id')}:{fields.pop('client_secret')}"
    header = f"Basic {base64.b64encode(pair.encode()).decode()}"
    return form(facts.endpoints.token, fields, Authorization=header)


def with_basic_beside(facts: ExchangeFacts) -> Outgoing:
    """Sends the credentials in the body and in a Basic header."""
    asked, basic = exchange.token_request(facts), with_basic(facts)
    return replace(asked, headers={**asked.headers, "Authorization": basic.headers["Authorization"]})


def in_the_query(facts: ExchangeFacts) -> Outgoing:
    fields = fields_of(facts)
    secret = {name: fields.pop(name) for name in ("client_id", "client_secret")}
    return replace(form(facts.endpoints.token, fields), url=with_query(facts.endpoints.token, secret))


def secret_in_the_query_too(facts: ExchangeFacts) -> Outgoing:
    """Adds the secret to the query, as `post(url, form, params=fields)` does."""
    asked = exchange.token_request(facts)
    return replace(asked, url=with_query(asked.url, {"client_secret": facts.client.client_secret}))


def once_for_all() -> Callable[[Octets], Attempt]:
    """Generates verifier and state once for a whole run."""
    drawn: list[Attempt] = []

    def fresh(octets: Octets) -> Attempt:
        drawn[:] = drawn or [authorization.fresh_attempt(octets)]
        return drawn[0]

    return fresh


def one_verifier() -> Callable[[Octets], Attempt]:
    """Generates a new state each time, but keeps the verifier of the first authorization."""
    first = once_for_all()
    return lambda octets: replace(authorization.fresh_attempt(octets), verifier=first(octets).verifier)


def one_state() -> Callable[[Octets], Attempt]:
    """Generates a new verifier each time, but keeps the state of the first authorization."""
    first = once_for_all()
    return lambda octets: replace(authorization.fresh_attempt(octets), state=first(octets).state)


def again_if_refused(asked: Outgoing, answer: Answer) -> Outgoing | None:
    return asked if answer.status == 400 else None


def exchange_again_on_redirect(goes_on: Callable[[list[str]], bool]) -> dict[str, Any]:
    """Sends the exchange again if `goes_on` says so about the redirects that came so far."""
    came: list[str] = []
    made: list[Outgoing] = []

    def request(facts: ExchangeFacts) -> Outgoing:
        made.append(exchange.token_request(facts))
        return made[-1]

    def told(step: str, facts: Mapping[str, Any]) -> None:
        if step == "redirect":
            came.append(facts["path"])
        if step == "exchange":
            time.sleep(_ANOTHER_COMES_WITHIN_S)
            if goes_on(came):
                trust = ssl.create_default_context(cafile=os.environ["GATEPROOF_CA_FILE"])
                with suppress(HTTPError):
                    urlopen(made[-1].url, made[-1].body, 10, context=trust).close()  # noqa: S310

    return {"token_request": request, "told": told}


DEFECTS = (
    defect("exchange-as-json (AGENT-06): The agent sends the exchange as JSON.", token_request=as_json),
    defect(
        "exchange-with-basic (AGENT-06): The agent sends its credentials in a Basic header instead of the "
        "body.",
        token_request=with_basic,
    ),
    defect(
        "exchange-with-basic-beside-the-body (AGENT-06): The agent sends its credentials in the body and "
        "also in a Basic header.",
        token_request=with_basic_beside,
    ),
    defect(
        "credentials-in-the-query (AGENT-06): The agent sends its credentials in the query instead of the "
        "body.",
        token_request=in_the_query,
    ),
    defect(
        "secret-in-the-query-as-well (AGENT-06): The agent sends the client secret in the body and also in "
        "the query.",
        token_request=secret_in_the_query_too,
    ),
    defect(
        "form-written-by-hand (AGENT-06 AGENT-01): The agent does not percent-encode the values of the form.",
        token_request=written_by_hand,
    ),
    defect(
        "redirect-uri-tidied (AGENT-06): The agent adds a slash to the redirect URI in the exchange.",
        **changed(lambda _, fields: fields | {"redirect_uri": f"{fields['redirect_uri']}/"}),
    ),
    defect(
        "redirect-uri-not-repeated (AGENT-06): The exchange has no redirect_uri.",
        **changed(lambda _, fields: fields | {"redirect_uri": ""}),
    ),
    defect(
        "challenge-for-a-verifier (AGENT-06 AGENT-14): The agent sends the challenge as code_verifier.",
        **changed(
            lambda facts, fields: (
                fields | {"code_verifier": authorization.challenge_of(facts.attempt.verifier)}
            )
        ),
    ),
    defect(
        "verifier-cut-short (AGENT-06 AGENT-04): The agent sends the verifier without its last character.",
        **changed(lambda _, fields: fields | {"code_verifier": fields["code_verifier"][:-1]}),
    ),
    defect(
        "verifier-not-sent (AGENT-06 AGENT-10): The exchange has no code_verifier.",
        **changed(lambda _, fields: fields | {"code_verifier": ""}),
    ),
    defect(
        "refused-code-sent-again (AGENT-10): The agent sends a refused code again.",
        sent_again=again_if_refused,
    ),
    defect(
        "verifier-kept-for-the-restart (AGENT-10 AGENT-04): The agent reuses the verifier when it starts "
        "over after a refused code.",
        fresh_attempt=one_verifier(),
    ),
    defect(
        "state-kept-for-the-restart (AGENT-04): The agent reuses the state when it starts over after a "
        "refused code.",
        fresh_attempt=one_state(),
    ),
    defect(
        "every-redirect-exchanged (AGENT-10): The agent exchanges the code twice when the same redirect "
        "arrives twice.",
        **exchange_again_on_redirect(lambda came: len(came) > len(set(came))),
    ),
    defect(
        "gives-up-at-a-refused-code (AGENT-10): The agent fails at a refused code instead of starting over.",
        exchanges_refused=1,
    ),
)
