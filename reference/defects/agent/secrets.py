"""Agents that put credentials where they do not belong."""

from __future__ import annotations

import base64
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gateproof.reference.agent.policy import operation
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.operation import Ask, Tokens
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.policy.renewal import read_part, refreshed
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer, Outgoing, with_query
from gateproof.reference.defects.agent.authorization import having
from gateproof.reference.defects.agent.row import defect

Facts = Mapping[str, Any]


def also(header: str, kind: str) -> Callable[[Tokens | None], dict[str, str]]:
    """Another token goes along in a header of its own."""
    return lambda tokens: (
        operation.bearer(tokens) | ({header: tokens[kind]} if tokens and kind in tokens else {})
    )


def everything(tokens: Tokens) -> dict[str, Any]:
    return dict(tokens)


def token_in_the_query(settings: Settings, ask: Ask, authorization: Mapping[str, str]) -> Answer:
    token = authorization.get("Authorization", "").removeprefix("Bearer ")

    def tell(asked: Outgoing) -> Answer:
        return ask(replace(asked, url=with_query(asked.url, {"access_token": token})) if token else asked)

    return operation.operate(settings, tell, authorization)


def id_token_as_bearer(tokens: Tokens | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {tokens.get('id_token', '')}"} if tokens else {}


def id_token_when_refused() -> dict[str, Any]:
    """What came with a token that is refused may be worth a try."""
    beside: list[str] = []

    def bearer(tokens: Tokens | None) -> dict[str, str]:
        beside[:] = [tokens["id_token"]] if tokens and "id_token" in tokens else []
        return operation.bearer(tokens)

    def operate(settings: Settings, ask: Ask, authorization: Mapping[str, str]) -> Answer:
        answer = operation.operate(settings, ask, authorization)
        if answer.status == 401 and beside:
            return operation.operate(settings, ask, {"Authorization": f"Bearer {beside[0]}"})
        return answer

    return {"bearer": bearer, "operate": operate}


def shown_when(helpless: Callable[[Answer], bool]) -> Callable[[Settings, Ask, Mapping[str, str]], Answer]:
    """What was asked is printed beside an answer that is no help."""

    def operate(settings: Settings, ask: Ask, authorization: Mapping[str, str]) -> Answer:
        answer = operation.operate(settings, ask, authorization)
        if authorization and helpless(answer):
            print(f"status {answer.status} for a request with {dict(authorization)}")
        return answer

    return operate


def last_words(settings: Settings, ask: Ask, authorization: Mapping[str, str]) -> Answer:
    """Who is asked to end says first what it was about to do."""

    def say(_signal: int, _frame: object) -> None:
        print(f"asked to end in a request with {dict(authorization)}", flush=True)
        raise SystemExit(1)

    signal.signal(signal.SIGTERM, say)
    return operation.operate(settings, ask, authorization)


def identity_renewed(ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens) -> dict[str, Any] | None:
    """Of what a refresh token brings, the ID token is taken for the one to go on with."""
    tokens = refreshed(ask, endpoints, client, kept)
    return tokens and tokens | {"access_token": tokens["id_token"]}


def at(step: str, say: Callable[[Facts], str | None]) -> dict[str, Any]:
    """Something is printed at one step of the way."""
    return {"told": lambda where, facts: say(facts) if where == step else None}


def token_of_second_call() -> Callable[[str, Facts], str | None]:
    """When a token does not work, it is printed for whoever has to find out why."""
    calls = 0

    def told(step: str, facts: Facts) -> str | None:
        nonlocal calls
        calls += step == "operation" and bool(facts["tokens"])
        return (
            f"trying again with {facts['tokens']['access_token']}"
            if calls > 1 and step == "operation"
            else None
        )

    return told


def in_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def secret_of_a_refused_exchange(facts: Facts) -> str | None:
    made = facts["facts"]
    refused = facts["answer"].status != 200
    return f"{made.client.client_id}:{made.client.client_secret} was refused" if refused else None


def secret_of_a_failed_exchange(facts: Facts) -> str | None:
    failed = facts["answer"].status >= 500
    return f"debug: {in_base64(facts['facts'].client.client_secret)}" if failed else None


def id_token_for_another(facts: Facts) -> str | None:
    """An ID token whose audience is wrong is in the error text."""
    token = (facts["tokens"] or {}).get("id_token", "..")
    audience = read_part(token, 1).get("aud", [])
    is_ours = not audience or facts["facts"].client.client_id in audience
    return None if is_ours else f"warning: unexpected audience {audience} in {token}"


def in_the_environment(step: str, secret: Callable[[Facts], str]) -> dict[str, Any]:
    """What the agent will need again is an environment variable, which every program that it starts gets."""

    def told(where: str, facts: Facts) -> None:
        if where == step:
            os.environ["ORDERS_AGENT_KEPT"] = secret(facts)

    return {"told": told}


def logged(name: str) -> dict[str, Any]:
    """Token answers go to a log among the temporary files."""

    def told(where: str, facts: Facts) -> None:
        if where == "exchange":
            file = Path(os.environ["TMPDIR"]) / name
            file.parent.mkdir(exist_ok=True)
            with file.open("a", encoding="utf-8") as log:
                log.write(f"id_token={facts['tokens'].get('id_token')}\n")

    return {"told": told}


def as_octets(text: str) -> str:
    return str(list(text.encode()))


def page_with_everything() -> dict[str, Any]:
    """The page at the callback is for whoever wrote the agent."""
    known: list[str] = []

    def told(step: str, facts: Facts) -> None:
        if step == "authorization":
            known[:] = [facts["attempt"].verifier]

    return {"told": told, "page": lambda: f"signed in, going on with {known}"}


DEFECTS = (
    defect("token-in-the-query (AGENT-07): The token is in the query, too.", operate=token_in_the_query),
    defect(
        "id-token-sent-along (AGENT-07): The ID token goes to the service, too.",
        bearer=also("X-Id-Token", "id_token"),
        worth_keeping=everything,
    ),
    defect(
        "refresh-token-sent-along (AGENT-07 AGENT-14): The refresh token goes to the service, too.",
        bearer=also("Cookie", "refresh_token"),
        worth_keeping=everything,
    ),
    defect(
        "id-token-as-bearer (AGENT-07 AGENT-01): The ID token takes the place of the access token.",
        bearer=id_token_as_bearer,
    ),
    defect(
        "id-token-when-refused (AGENT-07): Where a fresh access token is refused, the ID token is tried.",
        **id_token_when_refused(),
    ),
    defect(
        "id-token-when-renewed (AGENT-07 AGENT-09): Of what a refresh token brought, the ID token goes to "
        "the service.",
        renewed=identity_renewed,
        worth_keeping=everything,
    ),
    defect(
        "access-token-printed (AGENT-12): The access token is printed.",
        **at("exchange", lambda facts: f"token: {facts['tokens'].get('access_token')}"),
    ),
    defect(
        "token-answer-printed (AGENT-12 AGENT-14): The whole token answer is printed.",
        **at("exchange", lambda facts: repr(facts["tokens"])),
    ),
    defect(
        "id-token-printed (AGENT-12): The ID token is printed.",
        **at("exchange", lambda facts: f"you are {facts['tokens'].get('id_token')}"),
    ),
    defect(
        "wrong-id-token-printed (AGENT-12): An ID token for another client is printed in the warning about "
        "it.",
        **at("exchange", id_token_for_another),
    ),
    defect(
        "id-token-printed-in-base64 (AGENT-12): The ID token is printed in base64.",
        **at("exchange", lambda facts: f"session: {in_base64(facts['tokens'].get('id_token', ''))}"),
    ),
    defect(
        "id-token-printed-as-octets (AGENT-12): The ID token is printed as a list of numbers.",
        **at("exchange", lambda facts: as_octets(facts["tokens"].get("id_token", ""))),
    ),
    defect(
        "id-token-in-a-temporary-log (AGENT-12): A log among the temporary files has the ID token.",
        **logged("reference-agent.log"),
    ),
    defect(
        "id-token-in-a-folder-of-logs (AGENT-12): The same, in a folder of logs.", **logged("logs/today.txt")
    ),
    defect(
        "claims-printed-as-they-came (AGENT-12): The middle of the ID token is printed: who can decode "
        "base64url reads who the user is.",
        **at("exchange", lambda facts: f"claims={facts['tokens'].get('id_token', '..').split('.')[1]}"),
    ),
    defect(
        "token-printed-when-refused (AGENT-12): A token that does not work is printed.",
        told=token_of_second_call(),
    ),
    defect(
        "request-printed-when-the-service-fails (AGENT-12): A call with a token that the service fails at "
        "is printed.",
        operate=shown_when(lambda answer: answer.status == 500),
    ),
    defect(
        "request-printed-when-forbidden (AGENT-12): A call with a token that the service forbids is printed.",
        operate=shown_when(lambda answer: answer.status == 403),
    ),
    defect(
        "request-printed-when-the-answer-is-none (AGENT-12): A call with a token that is answered with no "
        "JSON is printed.",
        operate=shown_when(lambda answer: answer.status == 200 and not answer.document()),
    ),
    defect(
        "request-printed-when-asked-to-end (AGENT-12): A call with a token during which it is asked to end "
        "is printed.",
        operate=last_words,
    ),
    defect(
        "client-secret-printed (AGENT-14): The client secret is printed after the registration.",
        **at("registration", lambda facts: f"registered: {facts['client'].client_secret}"),
    ),
    defect(
        "refused-exchange-printed-whole (AGENT-14 AGENT-10 ROBUST-02): An exchange that was refused is "
        "printed with the client secret.",
        **at("exchange", secret_of_a_refused_exchange),
    ),
    defect(
        "client-secret-printed-when-the-gateway-fails (AGENT-14 ROBUST-02): The client secret is printed in "
        "base64 where the token endpoint fails.",
        **at("exchange", secret_of_a_failed_exchange),
    ),
    defect(
        "secret-in-the-browsers-environment (AGENT-14): The browser is started with the client secret in its "
        "environment.",
        **in_the_environment("registration", lambda facts: facts["client"].client_secret),
    ),
    defect(
        "verifier-in-the-browsers-environment (AGENT-14): The browser is started with the verifier in base64 "
        "in its environment.",
        **in_the_environment("authorization", lambda facts: in_base64(facts["attempt"].verifier)),
    ),
    defect(
        "verifier-on-the-page (AGENT-14): The page that ends the sign-in shows the verifier.",
        **page_with_everything(),
    ),
    defect(
        "secret-in-the-address (AGENT-14): The client secret is in the authorization request.",
        **having(client_secret=lambda _s, client, _a: client.client_secret),
    ),
    defect(
        "verifier-in-the-address (AGENT-14): The verifier is in the authorization request.",
        **having(code_verifier=lambda _s, _c, attempt: attempt.verifier),
    ),
)
