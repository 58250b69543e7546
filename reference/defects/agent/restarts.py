"""Agents that are wrong only after a refused code: when they start over, or in the next run."""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

from gateproof.reference.agent.policy import authorization, exchange
from gateproof.reference.agent.policy.authorization import Attempt, Octets
from gateproof.reference.agent.policy.exchange import ExchangeFacts
from gateproof.reference.agent.wire import Outgoing, form
from gateproof.reference.defects.agent.authorization import lacking, with_plus
from gateproof.reference.defects.agent.exchange import fields_of
from gateproof.reference.defects.agent.row import defect
from gateproof.reference.defects.agent.stored_state import state_file


def after_refused_code(policy: str, honest: Callable[..., Any], wrong: Callable[..., Any]) -> dict[str, Any]:
    """Replaces a policy for the rest of a run after a code was refused."""
    refused: list[int] = []

    def told(step: str, facts: Mapping[str, Any]) -> None:
        if step == "exchange" and facts["answer"].status == 400:
            refused.append(400)

    def decide(*given: Any) -> Any:
        return wrong(*given) if refused else honest(*given)

    return {"told": told, policy: decide}


def without_redirect_uri(facts: ExchangeFacts) -> Outgoing:
    fields = fields_of(facts)
    del fields["redirect_uri"]
    return form(facts.endpoints.token, fields)


def fresh_once() -> Callable[[Octets], Attempt]:
    """Reuses the verifier of the first restart of a run in all later restarts."""
    drawn: list[Attempt] = []

    def fresh(octets: Octets) -> Attempt:
        drawn.append(authorization.fresh_attempt(octets))
        return drawn[-1] if len(drawn) < 3 else replace(drawn[-1], verifier=drawn[1].verifier)

    return fresh


def beginning_with_the_last_code() -> dict[str, Any]:
    """Stores the last exchange, and sends it again at the start of the next run."""
    last = "exchange.json"

    def request(facts: ExchangeFacts) -> Outgoing:
        asked = exchange.token_request(facts)
        state_file(last).write_text(json.dumps([asked.url, asked.body.decode()]))
        return asked

    def around(run: Callable[[], int]) -> int:
        if state_file(last).exists():
            url, body = json.loads(state_file(last).read_text())
            trust = ssl.create_default_context(cafile=os.environ["GATEPROOF_CA_FILE"])
            with suppress(HTTPError):
                urlopen(url, body.encode(), 10, context=trust).close()  # noqa: S310
        return run()

    return {"token_request": request, "around": around}


DEFECTS = (
    defect(
        "plus-for-spaces-after-a-refusal (AGENT-03): After a refused code, the agent writes spaces in the "
        "authorization URL as plus signs.",
        **after_refused_code("authorization_url", authorization.authorization_url, with_plus),
    ),
    defect(
        "method-of-pkce-left-out-after-a-refusal (AGENT-03): After a refused code, the agent sends "
        "code_challenge without code_challenge_method.",
        **after_refused_code(
            "authorization_parameters",
            authorization.authorization_parameters,
            lacking("code_challenge_method")["authorization_parameters"],
        ),
    ),
    defect(
        "redirect-uri-not-repeated-after-a-refusal (AGENT-06): After a refused code, the exchange has no "
        "redirect_uri.",
        **after_refused_code("token_request", exchange.token_request, without_redirect_uri),
    ),
    defect(
        "verifier-kept-for-the-second-restart (AGENT-10 AGENT-04): After a second refused code, the agent "
        "reuses the verifier of the first restart.",
        fresh_attempt=fresh_once(),
    ),
    defect(
        "last-code-sent-in-the-next-run (AGENT-10): The agent sends the last exchange again at the start of "
        "the next run.",
        **beginning_with_the_last_code(),
    ),
)
