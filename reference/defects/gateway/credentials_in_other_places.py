"""Gateways that look for what they are told in places where it is not said."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy import code_exchange
from gateproof.reference.gateway.policy.code_exchange import CODE_CHECKS, CodeFacts, challenge_of
from gateproof.reference.outcomes import Refusal, json_in

REDEMPTION = "/api/credentials/token"
Around = Callable[[ASGIApp, Gateway], ASGIApp]


def made_up_for(header: str, name: str, form: str, *, in_the_body: bool) -> Around:
    """A redemption without this header gets it from the query or the body."""

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
    """The first client that names a host has named it for everybody; or the first client, if it does."""
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

    return meddling(changed)


def challenge_in_any_case(facts: CodeFacts) -> Refusal | None:
    challenge = facts.code.challenge if facts.code is not None else ""
    if challenge_of(facts.verifier).lower() == challenge.lower():
        return None
    return code_exchange.verifier_matches(facts)


def _query(scope: Scope) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(scope["query_string"].decode()).items()}


DEFECTS = (
    defect(
        "access-token-from-the-query (REDEEM-03): A redemption without Authorization is given the access "
        "token of its query.",
        around=made_up_for("authorization", "access_token", "Bearer {}", in_the_body=False),
    ),
    defect(
        "access-token-from-the-body (REDEEM-03): A redemption without Authorization is given the access "
        "token of its body.",
        around=made_up_for("authorization", "access_token", "Bearer {}", in_the_body=True),
    ),
    defect(
        "proxy-token-from-the-body (REDEEM-04): A redemption without X-Proxy-Token is given the Proxy token "
        "of its body.",
        around=made_up_for("x-proxy-token", "proxy_token", "{}", in_the_body=True),
    ),
    defect(
        "host-from-a-clients-header (DISC-03): The host that a client names in X-Forwarded-Host stays in "
        "the document for everybody.",
        around=host_kept_from_a_header(),
    ),
    defect(
        "document-made-for-the-first-client (DISC-03): A Resource's document is made once, with the host "
        "that its first client names in X-Forwarded-Host.",
        around=host_kept_from_a_header(of_the_first_request=True),
    ),
    defect(
        "challenge-in-any-case (CODE-04): The challenge is compared without regard to case.",
        code_checks=instead(CODE_CHECKS, code_exchange.verifier_matches, challenge_in_any_case),
    ),
)
