"""Agents whose exchanges are made in another way, or made again."""

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
    """The same request with other fields; an empty one is left out."""

    def request(facts: ExchangeFacts) -> Outgoing:
        fields = {name: value for name, value in change(facts, fields_of(facts)).items() if value}
        return form(facts.endpoints.token, fields)

    return {"token_request": request}


def as_json(facts: ExchangeFacts) -> Outgoing:
    body = json.dumps(fields_of(facts)).encode()
    headers = {"Content-Type": "application/json"}
    return Outgoing(method="POST", url=facts.endpoints.token, headers=headers, body=body)


def written_by_hand(facts: ExchangeFacts) -> Outgoing:
    """The form is put together without a thought for what some characters mean in it."""
    body = "&".join(f"{name}={value}" for name, value in fields_of(facts).items())
    return replace(exchange.token_request(facts), body=body.encode())


def with_basic(facts: ExchangeFacts) -> Outgoing:
    fields = fields_of(facts)
    pair = f"{fields.pop('client_id')}:{fields.pop('client_secret')}"
    header = f"Basic {base64.b64encode(pair.encode()).decode()}"
    return form(facts.endpoints.token, fields, Authorization=header)


def with_basic_beside(facts: ExchangeFacts) -> Outgoing:
    """One of the two will do."""
    asked, basic = exchange.token_request(facts), with_basic(facts)
    return replace(asked, headers={**asked.headers, "Authorization": basic.headers["Authorization"]})


def in_the_query(facts: ExchangeFacts) -> Outgoing:
    fields = fields_of(facts)
    secret = {name: fields.pop(name) for name in ("client_id", "client_secret")}
    return replace(form(facts.endpoints.token, fields), url=with_query(facts.endpoints.token, secret))


def secret_in_the_query_too(facts: ExchangeFacts) -> Outgoing:
    """`post(url, form, params=fields)`"""
    asked = exchange.token_request(facts)
    return replace(asked, url=with_query(asked.url, {"client_secret": facts.client.client_secret}))


def once_for_all() -> Callable[[Octets], Attempt]:
    """Verifier and state are drawn at the start of a run, and kept for all of it."""
    drawn: list[Attempt] = []

    def fresh(octets: Octets) -> Attempt:
        drawn[:] = drawn or [authorization.fresh_attempt(octets)]
        return drawn[0]

    return fresh


def one_verifier() -> Callable[[Octets], Attempt]:
    """The state is fresh, the verifier is that of the first authorization."""
    first = once_for_all()
    return lambda octets: replace(authorization.fresh_attempt(octets), verifier=first(octets).verifier)


def one_state() -> Callable[[Octets], Attempt]:
    """The verifier is fresh, the state is that of the first authorization."""
    first = once_for_all()
    return lambda octets: replace(authorization.fresh_attempt(octets), state=first(octets).state)


def again_if_refused(asked: Outgoing, answer: Answer) -> Outgoing | None:
    return asked if answer.status == 400 else None


def for_every_redirect(goes_on: Callable[[list[str]], bool]) -> dict[str, Any]:
    """Whoever comes to the callback starts an exchange, also with what has come before."""
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
    defect("exchange-as-json (AGENT-06): The exchange is JSON.", token_request=as_json),
    defect(
        "exchange-with-basic (AGENT-06): The credentials are in a Basic header.", token_request=with_basic
    ),
    defect(
        "exchange-with-basic-beside-the-body (AGENT-06): The credentials are in the body, and in a Basic "
        "header as well.",
        token_request=with_basic_beside,
    ),
    defect(
        "credentials-in-the-query (AGENT-06): The credentials are in the query.",
        token_request=in_the_query,
    ),
    defect(
        "secret-in-the-query-as-well (AGENT-06): The client secret is in the body, and in the query as well.",
        token_request=secret_in_the_query_too,
    ),
    defect(
        "form-written-by-hand (AGENT-06 AGENT-01): The values of the form are not encoded.",
        token_request=written_by_hand,
    ),
    defect(
        "redirect-uri-tidied (AGENT-06): The exchange has the redirect URI with a slash at its end.",
        **changed(lambda _, fields: fields | {"redirect_uri": f"{fields['redirect_uri']}/"}),
    ),
    defect(
        "redirect-uri-not-repeated (AGENT-06): The exchange has no redirect URI.",
        **changed(lambda _, fields: fields | {"redirect_uri": ""}),
    ),
    defect(
        "challenge-for-a-verifier (AGENT-06 AGENT-14): The challenge is sent in place of the verifier.",
        **changed(
            lambda facts, fields: (
                fields | {"code_verifier": authorization.challenge_of(facts.attempt.verifier)}
            )
        ),
    ),
    defect(
        "verifier-cut-short (AGENT-06 AGENT-04): The verifier lacks its last character.",
        **changed(lambda _, fields: fields | {"code_verifier": fields["code_verifier"][:-1]}),
    ),
    defect(
        "verifier-not-sent (AGENT-06 AGENT-10): The exchange has no verifier.",
        **changed(lambda _, fields: fields | {"code_verifier": ""}),
    ),
    defect("refused-code-sent-again (AGENT-10): A refused code is sent again.", sent_again=again_if_refused),
    defect(
        "verifier-kept-for-the-restart (AGENT-10 AGENT-04): After a refusal the verifier stays.",
        fresh_attempt=one_verifier(),
    ),
    defect(
        "state-kept-for-the-restart (AGENT-04): After a refusal the state stays.",
        fresh_attempt=one_state(),
    ),
    defect(
        "every-redirect-exchanged (AGENT-10): A redirect that comes twice is exchanged twice.",
        **for_every_redirect(lambda came: len(came) > len(set(came))),
    ),
    defect("gives-up-at-a-refused-code (AGENT-10): A refused code is the end.", exchanges_refused=1),
)
