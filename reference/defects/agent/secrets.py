"""Agents that send or show credentials where they must not."""

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
    """Sends another token in this header, too."""
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
    """Tries the ID token after the access token was refused."""
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
    """Prints the request if `helpless` is true of the answer."""

    def operate(settings: Settings, ask: Ask, authorization: Mapping[str, str]) -> Answer:
        answer = operation.operate(settings, ask, authorization)
        if authorization and helpless(answer):
            print(f"status {answer.status} for a request with {dict(authorization)}")
        return answer

    return operate


def printed_at_sigterm(settings: Settings, ask: Ask, authorization: Mapping[str, str]) -> Answer:
    """Prints the current request at SIGTERM."""

    def say(_signal: int, _frame: object) -> None:
        print(f"asked to end in a request with {dict(authorization)}", flush=True)
        raise SystemExit(1)

    signal.signal(signal.SIGTERM, say)
    return operation.operate(settings, ask, authorization)


def identity_renewed(ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens) -> dict[str, Any] | None:
    """Uses the ID token of a refresh as the access token."""
    tokens = refreshed(ask, endpoints, client, kept)
    return tokens and tokens | {"access_token": tokens["id_token"]}


def printed_at(step: str, say: Callable[[Facts], str | None]) -> dict[str, Any]:
    """Prints the text that `say` returns at this step."""
    return {"told": lambda where, facts: say(facts) if where == step else None}


def token_of_second_call() -> Callable[[str, Facts], str | None]:
    """Prints the access token from the second call of a run on."""
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
    """Prints an ID token whose audience is wrong."""
    token = (facts["tokens"] or {}).get("id_token", "..")
    audience = read_part(token, 1).get("aud", [])
    is_ours = not audience or facts["facts"].client.client_id in audience
    return None if is_ours else f"warning: unexpected audience {audience} in {token}"


def logged(name: str) -> dict[str, Any]:
    """Appends ID tokens to a log in the temporary folder."""

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
    """Shows the verifier on the callback page."""
    known: list[str] = []

    def told(step: str, facts: Facts) -> None:
        if step == "authorization":
            known[:] = [facts["attempt"].verifier]

    return {"told": told, "page": lambda: f"signed in, going on with {known}"}


DEFECTS = (
    defect(
        "token-in-the-query (AGENT-07): The agent sends the access token also in the query.",
        operate=token_in_the_query,
    ),
    defect(
        "id-token-sent-along (AGENT-07): The agent sends the ID token to the service, too, in the header "
        "X-Id-Token.",
        bearer=also("X-Id-Token", "id_token"),
        worth_keeping=everything,
    ),
    defect(
        "refresh-token-sent-along (AGENT-07 AGENT-14): The agent sends the refresh token to the service, "
        "too, in the header Cookie.",
        bearer=also("Cookie", "refresh_token"),
        worth_keeping=everything,
    ),
    defect(
        "id-token-as-bearer (AGENT-07 AGENT-01): The agent sends the ID token instead of the access token.",
        bearer=id_token_as_bearer,
    ),
    defect(
        "id-token-when-refused (AGENT-07): After a fresh access token was refused, the agent sends the ID "
        "token.",
        **id_token_when_refused(),
    ),
    defect(
        "id-token-when-renewed (AGENT-07 AGENT-09): After a refresh, the agent sends the new ID token "
        "instead of the access token.",
        renewed=identity_renewed,
        worth_keeping=everything,
    ),
    defect(
        "access-token-printed (AGENT-12): The agent prints the access token.",
        **printed_at("exchange", lambda facts: f"token: {facts['tokens'].get('access_token')}"),
    ),
    defect(
        "token-answer-printed (AGENT-12 AGENT-14): The agent prints the whole token response.",
        **printed_at("exchange", lambda facts: repr(facts["tokens"])),
    ),
    defect(
        "id-token-printed (AGENT-12): The agent prints the ID token.",
        **printed_at("exchange", lambda facts: f"you are {facts['tokens'].get('id_token')}"),
    ),
    defect(
        "wrong-id-token-printed (AGENT-12): The agent prints an ID token with a wrong audience in a warning.",
        **printed_at("exchange", id_token_for_another),
    ),
    defect(
        "id-token-printed-in-base64 (AGENT-12): The agent prints the ID token in base64.",
        **printed_at("exchange", lambda facts: f"session: {in_base64(facts['tokens'].get('id_token', ''))}"),
    ),
    defect(
        "id-token-printed-as-octets (AGENT-12): The agent prints the ID token as a list of numbers.",
        **printed_at("exchange", lambda facts: as_octets(facts["tokens"].get("id_token", ""))),
    ),
    defect(
        "id-token-in-a-temporary-log (AGENT-12): The agent writes the ID token to a log file in the "
        "temporary folder.",
        **logged("reference-agent.log"),
    ),
    defect(
        "id-token-in-a-folder-of-logs (AGENT-12): The agent writes the ID token to a log file in a "
        "subfolder of the temporary folder.",
        **logged("logs/today.txt"),
    ),
    defect(
        "claims-printed-as-they-came (AGENT-12): The agent prints the claims of the ID token in base64url.",
        **printed_at(
            "exchange", lambda facts: f"claims={facts['tokens'].get('id_token', '..').split('.')[1]}"
        ),
    ),
    defect(
        "token-printed-when-refused (AGENT-12): After a token was refused, the agent prints the next one.",
        told=token_of_second_call(),
    ),
    defect(
        "request-printed-when-the-service-fails (AGENT-12): The agent prints the access token of a call "
        "that got 500.",
        operate=shown_when(lambda answer: answer.status == 500),
    ),
    defect(
        "request-printed-when-forbidden (AGENT-12): The agent prints the access token of a call that got "
        "403.",
        operate=shown_when(lambda answer: answer.status == 403),
    ),
    defect(
        "request-printed-when-the-answer-is-none (AGENT-12): The agent prints the access token of a call "
        "that got 200 without JSON.",
        operate=shown_when(lambda answer: answer.status == 200 and not answer.document()),
    ),
    defect(
        "request-printed-when-asked-to-end (AGENT-12): The agent prints the access token when it receives "
        "SIGTERM during a call.",
        operate=printed_at_sigterm,
    ),
    defect(
        "client-secret-printed (AGENT-14): The agent prints the client secret after the registration.",
        **printed_at("registration", lambda facts: f"registered: {facts['client'].client_secret}"),
    ),
    defect(
        "refused-exchange-printed-whole (AGENT-14 AGENT-10 ROBUST-02): The agent prints the client secret "
        "after an exchange that failed.",
        **printed_at("exchange", secret_of_a_refused_exchange),
    ),
    defect(
        "client-secret-printed-when-the-gateway-fails (AGENT-14 ROBUST-02): The agent prints the client "
        "secret in base64 after an exchange that failed with 5xx.",
        **printed_at("exchange", secret_of_a_failed_exchange),
    ),
    defect(
        "verifier-on-the-page (AGENT-14): The callback page shows the verifier.",
        **page_with_everything(),
    ),
    defect(
        "secret-in-the-address (AGENT-14): The authorization URL contains the client secret.",
        **having(client_secret=lambda _s, client, _a: client.client_secret),
    ),
    defect(
        "verifier-in-the-address (AGENT-14): The authorization URL contains the verifier.",
        **having(code_verifier=lambda _s, _c, attempt: attempt.verifier),
    ),
)
