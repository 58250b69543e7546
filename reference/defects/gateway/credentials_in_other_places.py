"""Gateways that read credentials or hosts from places where these are not allowed, or compare too little."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy import code_exchange
from gateproof.reference.gateway.policy.code_exchange import CODE_CHECKS, CodeFacts, challenge_of
from gateproof.reference.outcomes import Refusal, json_in

REDEMPTION = "/api/credentials/token"
Around = Callable[[ASGIApp, Gateway], ASGIApp]


def filled_in(header: str, name: str, form: str, *, in_the_body: bool) -> Around:
    """Fills in a missing header of a redemption from the query or the body."""

    def around(app: ASGIApp, _gateway: Gateway) -> ASGIApp:
        async def filled(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["path"] != REDEMPTION or any(key.decode() == header for key, _ in scope["headers"]):
                await app(scope, receive, send)
                return
            message = await receive()
            said = json_in(message.get("body", b"")) if in_the_body else _query(scope)
            value = said.get(name) if isinstance(said, dict) else None
            found = [(header.encode(), form.format(value).encode())] if isinstance(value, str) else []
            waiting = [message]

            async def replayed() -> Message:
                return waiting.pop() if waiting else await receive()

            await app({**scope, "headers": [*scope["headers"], *found]}, replayed, send)

        return filled

    return around


def host_kept_from_a_header(*, of_the_first_request: bool = False) -> Around:
    """Keeps the first X-Forwarded-Host for everybody, or only that of the first request."""
    named: dict[str, str] = {}

    def changed(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
        if not asked.path.endswith("/.well-known/openid-configuration") or answered.status != 200:
            return answered
        forwarded = asked.headers.get("x-forwarded-host")
        if of_the_first_request:
            forwarded = forwarded or gateway.base_url.partition("://")[2]
        if forwarded:
            named.setdefault(asked.path, forwarded)
        if asked.path not in named:
            return answered
        document = json.loads(answered.body)
        where = document["authorization_endpoint"].replace(
            gateway.base_url.partition("://")[2], named[asked.path], 1
        )
        body = json.dumps(document | {"authorization_endpoint": where}).encode()
        return Answered(status=answered.status, headers=answered.headers, body=body)

    return altering_answers(changed)


def challenge_in_any_case(facts: CodeFacts) -> Refusal | None:
    challenge = facts.code.challenge if facts.code is not None else ""
    if challenge_of(facts.verifier).lower() == challenge.lower():
        return None
    return code_exchange.verifier_matches(facts)


def _query(scope: Scope) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(scope["query_string"].decode()).items()}


DEFECTS = (
    defect(
        "access-token-from-the-query (REDEEM-03): A redemption without Authorization uses the access_token "
        "of its query.",
        around=filled_in("authorization", "access_token", "Bearer {}", in_the_body=False),
    ),
    defect(
        "access-token-from-the-body (REDEEM-03): A redemption without Authorization uses the access_token of "
        "its body.",
        around=filled_in("authorization", "access_token", "Bearer {}", in_the_body=True),
    ),
    defect(
        "proxy-token-from-the-body (REDEEM-04): A redemption without X-Proxy-Token uses the proxy_token of "
        "its body.",
        around=filled_in("x-proxy-token", "proxy_token", "{}", in_the_body=True),
    ),
    defect(
        "host-from-a-clients-header (DISC-03): The first X-Forwarded-Host that a client sends becomes the "
        "host of the authorization endpoint in the document for all clients.",
        around=host_kept_from_a_header(),
    ),
    defect(
        "document-made-for-the-first-client (DISC-03): The first discovery request for a Resource sets the "
        "host of the authorization endpoint for all clients, from X-Forwarded-Host if it is sent.",
        around=host_kept_from_a_header(of_the_first_request=True),
    ),
    defect(
        "challenge-in-any-case (CODE-04): The gateway compares the challenge case-insensitively.",
        code_checks=instead(CODE_CHECKS, code_exchange.verifier_matches, challenge_in_any_case),
    ),
)
