"""Gateways that fail on unusual input or many bad requests."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import jwt
from starlette.types import ASGIApp, Receive, Scope, Send

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.pages import ApprovePageFacts, approve_page
from gateproof.reference.gateway.policy.authorization import PAGE_CHECKS, AuthorizationFacts
from gateproof.reference.gateway.policy.code_exchange import TOKEN_REQUEST_CHECKS, TokenRequestFacts
from gateproof.reference.gateway.policy.redemption import REDEMPTION_CHECKS, RedemptionFacts
from gateproof.reference.gateway.policy.registration import (
    REGISTRATION_CHECKS,
    NewAgent,
    RegistrationFacts,
    new_agent,
)
from gateproof.reference.gateway.policy.vault import MerchantAnswer, Verdict, provisioning_verdict
from gateproof.reference.ids import Ids
from gateproof.reference.outcomes import Refusal

# Longer than a check waits for a recovery.
WEDGED_S = 25.0
# The number of refused requests of each kind, and the time window, that block the gateway.
MOST_AT_ONCE, AT_ONCE_S = 15, 10.0
KINDS = ("/api/register", "/api/credentials", "/oauth2/auth", "/.well-known/")


def failing_on(name: str) -> Any:
    """Answers 500 if the reader of this name raises an exception."""
    return failing_with(READERS[name])


def failing_with(reader: Callable[[Asked], None]) -> Any:
    """Answers 500 if this reader raises an exception, as a handler without a try block does."""

    def change(asked: Asked, answered: Answered, _: Gateway) -> Answered:
        try:
            reader(asked)
        except (ValueError, TypeError, LookupError, RecursionError, AttributeError):
            return replace(answered, status=500, body=b"Internal Server Error")
        return answered

    return altering_answers(change)


def _reads_json_without_looking(asked: Asked) -> None:
    if asked.path.endswith("/api/credentials/token") and asked.method == "POST":
        json.loads(asked.body)["resource"].strip()


def _knows_every_charset(asked: Asked) -> None:
    _, _, charset = asked.headers.get("content-type", "").partition("charset=")
    if charset:
        asked.body.decode(charset.strip('" '), "replace")


def _reads_paths_as_utf_8(asked: Asked) -> None:
    asked.query.encode("ascii")
    unquote(asked.query, errors="strict").encode("utf-8")


def _logs_every_parameter(asked: Asked) -> None:
    """The log has one line for each request, and fails on characters that would end the line."""
    for _, value in parse_qsl(asked.query, keep_blank_values=True):
        if any(letter < " " for letter in value):
            raise ValueError


def _splits_every_cookie(asked: Asked) -> None:
    for piece in asked.headers.get("cookie", "").split(";") if "cookie" in asked.headers else ():
        name, value = piece.split("=")
        assert name is not None  # noqa: S101
        assert value is not None  # noqa: S101


def _parses_weights_unguarded(asked: Asked) -> None:
    for piece in asked.headers.get("accept", "*/*").split(","):
        _, _, weight = piece.partition(";q=")
        float(weight or 1)


def _limits_nesting(asked: Asked) -> None:
    if asked.path.endswith("/api/register") and asked.method == "POST":
        deepest = 0
        for octet in asked.body:
            deepest += (octet in b"[{") - (octet in b"]}")
            if deepest > 900:
                raise RecursionError


def _has_few_methods(asked: Asked) -> None:
    {"GET": 1, "POST": 1, "HEAD": 1, "OPTIONS": 1, "PUT": 1, "DELETE": 1}[asked.method]


READERS = {
    "redemption body": _reads_json_without_looking,
    "charset": _knows_every_charset,
    "query": _reads_paths_as_utf_8,
    "parameters": _logs_every_parameter,
    "cookie": _splits_every_cookie,
    "accept": _parses_weights_unguarded,
    "depth": _limits_nesting,
    "method": _has_few_methods,
}


def name_in_utf_8(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
    """The name is stored in a database that accepts only UTF-8."""
    str(facts.value("client_name")).encode()
    return new_agent(facts, ids, now)


def name_is_trimmed_first(facts: RegistrationFacts) -> Refusal | None:
    """Trims the name without a check that it is a string."""
    name = facts.value("client_name")
    assert name is None or name.strip() is not None  # noqa: S101
    return None


def page_in_utf_8(facts: ApprovePageFacts) -> str:
    page = approve_page(facts)
    page.encode()
    return page


def redirect_uris_are_parsed_first(facts: RegistrationFacts) -> Refusal | None:
    """The exception of the parser about an invalid URI is not caught."""
    for uri in facts.value("redirect_uris") or ():
        assert urlsplit(uri).port != 0  # noqa: S101
    return None


def redirect_uri_is_parsed_first(facts: AuthorizationFacts) -> Refusal | None:
    assert urlsplit(facts.value("redirect_uri")).port != 0  # noqa: S101
    return None


def resource_is_looked_up_first(facts: RedemptionFacts) -> Refusal | None:
    """A list cannot be a dictionary key."""
    known = {resource.indicator for resource in facts.resources}
    assert facts.indicator in known or True  # noqa: S101, SIM222
    return None


def code_is_ascii(facts: TokenRequestFacts) -> Refusal | None:
    facts.value("code").encode("ascii")
    return None


def token_header_is_read_first(facts: RedemptionFacts) -> Refusal | None:
    """Reads the algorithm from the token's header without a check that the token is a JWT."""
    for value in facts.authorizations:
        jwt.get_unverified_header(value.partition(" ")[2])["alg"].lower()
    return None


def blocked_by_many_requests() -> Any:
    """A refused request keeps a database connection for a while; each kind of request has a few of them."""
    refused: dict[str, deque[float]] = {kind: deque(maxlen=MOST_AT_ONCE) for kind in KINDS}
    wedged_until = 0.0

    def change(asked: Asked, answered: Answered, _: Gateway) -> Answered:
        nonlocal wedged_until
        now = time.monotonic()
        for kind in KINDS:
            if kind in asked.path and answered.status >= 400:
                refused[kind].append(now)
        if all(len(each) == MOST_AT_ONCE and now - each[0] < AT_ONCE_S for each in refused.values()):
            wedged_until = now + WEDGED_S
        wedged = now < wedged_until and asked.path.endswith("/api/register")
        return replace(answered, status=503, body=b"") if wedged else answered

    return altering_answers(change)


def slots_lost_to_broken_connections() -> Any:
    """A request whose client disconnects keeps its slot for a long time."""
    lost: list[float] = []

    def around(app: ASGIApp, _: Gateway) -> ASGIApp:
        async def counted(scope: Scope, receive: Receive, send: Send) -> None:
            now = time.monotonic()
            lost[:] = [moment for moment in lost if now - moment < WEDGED_S]
            if len(lost) > 20:
                await send({"type": "http.response.start", "status": 500, "headers": []})
                await send({"type": "http.response.body", "body": b""})
                return

            async def watched() -> Any:
                message = await receive()
                if message["type"] == "http.disconnect":
                    lost.append(time.monotonic())
                return message

            if scope["method"] == "POST":
                first = await watched()
                waiting = [first]
                while first["type"] == "http.request" and first.get("more_body"):
                    first = await watched()
                    waiting.append(first)
                if first["type"] == "http.disconnect":
                    return
                replay = iter(waiting)

                async def again() -> Any:
                    return next(replay, None) or await receive()

                await app(scope, again, send)
            else:
                await app(scope, receive, send)

        return counted

    return around


def circuit_stays_open() -> Any:
    """A temporary failure of one merchant opens a circuit breaker for all merchants for a long time."""
    until = 0.0

    def verdict(answer: MerchantAnswer) -> Verdict:
        nonlocal until
        honest = provisioning_verdict(answer)
        if honest == "transient":
            until = time.monotonic() + WEDGED_S
        return "transient" if time.monotonic() < until else honest

    return verdict


DEFECTS = (
    defect(
        "name-that-is-no-text (ROBUST-01): The gateway answers 500 to a registration whose client_name is a "
        "number or a list.",
        registration_checks=(name_is_trimmed_first, *REGISTRATION_CHECKS),
    ),
    defect(
        "lone-surrogate-in-a-name (ROBUST-01): The gateway answers 500 to a registration whose client_name "
        "cannot be encoded in UTF-8.",
        new_agent=name_in_utf_8,
    ),
    defect(
        "lone-surrogate-on-the-page (ROBUST-01): The approve page is a 500 if the agent's name cannot be "
        "encoded in UTF-8.",
        approve_page=page_in_utf_8,
    ),
    defect(
        "redirect-uris-parsed-unguarded (ROBUST-01): The gateway answers 500 to a registration with a "
        "redirect URI that cannot be parsed.",
        registration_checks=(
            *REGISTRATION_CHECKS[:2],
            redirect_uris_are_parsed_first,
            *REGISTRATION_CHECKS[2:],
        ),
    ),
    defect(
        "redirect-uri-parsed-unguarded (ROBUST-01 AUTHZ-06): The gateway answers 500 to an authorization "
        "request with a redirect URI that cannot be parsed.",
        page_checks=(redirect_uri_is_parsed_first, *PAGE_CHECKS),
    ),
    defect(
        "resource-as-a-dictionary-key (ROBUST-01 REDEEM-14): The gateway answers 500 to a redemption whose "
        "resource is an array or object.",
        redemption_checks=(REDEMPTION_CHECKS[0], resource_is_looked_up_first, *REDEMPTION_CHECKS[1:]),
    ),
    defect(
        "redemption-body-unguarded (ROBUST-01 REDEEM-14): The gateway answers 500 to a redemption whose "
        "body is not a JSON object with the string resource.",
        around=failing_on("redemption body"),
    ),
    defect(
        "token-header-unguarded (ROBUST-01 REDEEM-03 REDEEM-11): The gateway answers 500 to a redemption "
        "with an access token that is not a JWT.",
        redemption_checks=(REDEMPTION_CHECKS[0], token_header_is_read_first, *REDEMPTION_CHECKS[1:]),
    ),
    defect(
        "code-beyond-ascii (ROBUST-01): The gateway answers 500 to an exchange of a code with characters "
        "outside ASCII.",
        token_request_checks=(*TOKEN_REQUEST_CHECKS, code_is_ascii),
    ),
    defect(
        "charset-unguarded (ROBUST-01): The gateway answers 500 to a Content-Type with an unknown charset.",
        around=failing_on("charset"),
    ),
    defect(
        "query-unguarded (ROBUST-01 AUTHZ-02 AUTHZ-06): The gateway answers 500 to a query that is not "
        "UTF-8.",
        around=failing_on("query"),
    ),
    defect(
        "control-characters-unguarded (ROBUST-01 AUTHZ-02 AUTHZ-06): The gateway answers 500 to a query "
        "parameter with a control character.",
        around=failing_on("parameters"),
    ),
    defect(
        "cookie-unguarded (ROBUST-01): The gateway answers 500 to a cookie without an equals sign.",
        around=failing_on("cookie"),
    ),
    defect(
        "accept-unguarded (ROBUST-01): The gateway answers 500 to an Accept header with a weight that is "
        "not a number.",
        around=failing_on("accept"),
    ),
    defect(
        "depth-unguarded (ROBUST-01): The gateway answers 500 to a registration whose JSON is nested more "
        "than 900 levels deep.",
        around=failing_on("depth"),
    ),
    defect(
        "method-unguarded (ROBUST-01): The gateway answers 500 to an unknown HTTP method.",
        around=failing_on("method"),
    ),
    defect(
        "wedged-by-a-crowd (ROBUST-02): After many refused requests in a few seconds, the gateway answers "
        "503 to registrations for some time.",
        around=blocked_by_many_requests(),
    ),
    defect(
        "slots-lost-to-broken-connections (ROBUST-02): A request whose client disconnects keeps its slot; "
        "after about twenty of them, the gateway answers 500.",
        around=slots_lost_to_broken_connections(),
    ),
    defect(
        "circuit-breaker-for-everybody (ROBUST-02 VAULT-10 ROBUST-04): An invalid answer of one merchant "
        "opens a circuit breaker for all merchants, and it stays open for 25 seconds.",
        provisioning_verdict=circuit_stays_open(),
    ),
)
