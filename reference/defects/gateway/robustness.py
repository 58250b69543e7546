"""Gateways that input can bring to their knees."""

from __future__ import annotations

import json
import time
from collections import deque
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import jwt
from starlette.types import ASGIApp, Receive, Scope, Send

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
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

# Longer than anybody waits for a recovery.
WEDGED_S = 25.0
# What a crowd is: so many refusals of each kind within so long.
MOST_AT_ONCE, AT_ONCE_S = 15, 10.0
KINDS = ("/api/register", "/api/credentials", "/oauth2/auth", "/.well-known/")


def failing_on(name: str) -> Any:
    """An exception of the handler's own becomes a 500, as it does where nobody catches it."""

    def change(asked: Asked, answered: Answered, _: Gateway) -> Answered:
        try:
            READERS[name](asked)
        except (ValueError, TypeError, LookupError, RecursionError, AttributeError):
            return replace(answered, status=500, body=b"Internal Server Error")
        return answered

    return meddling(change)


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
    """The log takes one line a request, and complains of what would end it."""
    for _, value in parse_qsl(asked.query, keep_blank_values=True):
        if any(letter < " " for letter in value):
            raise ValueError


def _splits_every_cookie(asked: Asked) -> None:
    for piece in asked.headers.get("cookie", "").split(";") if "cookie" in asked.headers else ():
        name, value = piece.split("=")
        assert name is not None  # noqa: S101
        assert value is not None  # noqa: S101


def _weighs_every_media_type(asked: Asked) -> None:
    for piece in asked.headers.get("accept", "*/*").split(","):
        _, _, weight = piece.partition(";q=")
        float(weight or 1)


def _limits_the_numbers(asked: Asked) -> None:
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
    "accept": _weighs_every_media_type,
    "depth": _limits_the_numbers,
    "method": _has_few_methods,
}


def name_in_utf_8(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
    """The name goes to a database, which takes UTF-8 alone."""
    str(facts.value("client_name")).encode()
    return new_agent(facts, ids, now)


def name_is_trimmed_first(facts: RegistrationFacts) -> Refusal | None:
    """A name that is no text has nothing to trim."""
    name = facts.value("client_name")
    assert name is None or name.strip() is not None  # noqa: S101
    return None


def page_in_utf_8(facts: ApprovePageFacts) -> str:
    page = approve_page(facts)
    page.encode()
    return page


def redirect_uris_are_parsed_first(facts: RegistrationFacts) -> Refusal | None:
    """The parser's complaint about a URI that is none is nobody's to catch."""
    for uri in facts.value("redirect_uris") or ():
        assert urlsplit(uri).port != 0  # noqa: S101
    return None


def redirect_uri_is_parsed_first(facts: AuthorizationFacts) -> Refusal | None:
    assert urlsplit(facts.value("redirect_uri")).port != 0  # noqa: S101
    return None


def resource_is_looked_up_first(facts: RedemptionFacts) -> Refusal | None:
    """A dictionary takes no list for a key."""
    known = {resource.indicator for resource in facts.resources}
    assert facts.indicator in known or True  # noqa: S101, SIM222
    return None


def code_is_ascii(facts: TokenRequestFacts) -> Refusal | None:
    facts.value("code").encode("ascii")
    return None


def token_header_is_read_first(facts: RedemptionFacts) -> Refusal | None:
    """The algorithm of a token is taken from its header before anybody looks whether there is one."""
    for value in facts.authorizations:
        jwt.get_unverified_header(value.partition(" ")[2])["alg"].lower()
    return None


def wedged_by_a_crowd() -> Any:
    """A request that is refused keeps its connection for a while; there are some for each kind of request."""
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

    return meddling(change)


def slots_lost_to_broken_connections() -> Any:
    """A request whose client went away keeps its slot for good, or nearly so."""
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
    """Nonsense from one merchant opens a circuit breaker for all of them, and it closes late."""
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
        "name-that-is-no-text (ROBUST-01): A registration whose name is a number or a list ends as a 500.",
        registration_checks=(name_is_trimmed_first, *REGISTRATION_CHECKS),
    ),
    defect(
        "lone-surrogate-in-a-name (ROBUST-01): A registration whose name cannot be written as UTF-8 ends as "
        "a 500.",
        new_agent=name_in_utf_8,
    ),
    defect(
        "lone-surrogate-on-the-page (ROBUST-01): The page that asks the user ends as a 500 when the agent's "
        "name cannot be written as UTF-8.",
        approve_page=page_in_utf_8,
    ),
    defect(
        "redirect-uris-parsed-unguarded (ROBUST-01): A registered redirect URI that no parser takes ends as "
        "a 500.",
        registration_checks=(
            *REGISTRATION_CHECKS[:2],
            redirect_uris_are_parsed_first,
            *REGISTRATION_CHECKS[2:],
        ),
    ),
    defect(
        "redirect-uri-parsed-unguarded (ROBUST-01 AUTHZ-06): An authorization with a redirect URI that no "
        "parser takes ends as a 500.",
        page_checks=(redirect_uri_is_parsed_first, *PAGE_CHECKS),
    ),
    defect(
        "resource-as-a-dictionary-key (ROBUST-01 REDEEM-14): A redemption of an array or object ends as a "
        "500.",
        redemption_checks=(REDEMPTION_CHECKS[0], resource_is_looked_up_first, *REDEMPTION_CHECKS[1:]),
    ),
    defect(
        "redemption-body-unguarded (ROBUST-01 REDEEM-14): A redemption whose body is not what it should be "
        "ends as a 500.",
        around=failing_on("redemption body"),
    ),
    defect(
        "token-header-unguarded (ROBUST-01 REDEEM-03 REDEEM-11): A redemption with a token that is no JWT "
        "ends as a 500.",
        redemption_checks=(REDEMPTION_CHECKS[0], token_header_is_read_first, *REDEMPTION_CHECKS[1:]),
    ),
    defect(
        "code-beyond-ascii (ROBUST-01): An exchange of a code with letters beyond ASCII ends as a 500.",
        token_request_checks=(*TOKEN_REQUEST_CHECKS, code_is_ascii),
    ),
    defect(
        "charset-unguarded (ROBUST-01): A media type that names no known charset ends as a 500.",
        around=failing_on("charset"),
    ),
    defect(
        "query-unguarded (ROBUST-01 AUTHZ-02 AUTHZ-06): A query that is no UTF-8 ends as a 500.",
        around=failing_on("query"),
    ),
    defect(
        "control-characters-unguarded (ROBUST-01 AUTHZ-02 AUTHZ-06): A parameter with a control character "
        "in it ends as a 500.",
        around=failing_on("parameters"),
    ),
    defect(
        "cookie-unguarded (ROBUST-01): A cookie without an equals sign ends as a 500.",
        around=failing_on("cookie"),
    ),
    defect(
        "accept-unguarded (ROBUST-01): An Accept header with a weight that is no number ends as a 500.",
        around=failing_on("accept"),
    ),
    defect(
        "depth-unguarded (ROBUST-01): A registration nested a thousand deep ends as a 500.",
        around=failing_on("depth"),
    ),
    defect(
        "method-unguarded (ROBUST-01): A method that nobody has heard of ends as a 500.",
        around=failing_on("method"),
    ),
    defect(
        "wedged-by-a-crowd (ROBUST-02): After a crowd of bad requests, nobody can register for a while.",
        around=wedged_by_a_crowd(),
    ),
    defect(
        "slots-lost-to-broken-connections (ROBUST-02): Requests that broke off keep their slots, and in the "
        "end there are none.",
        around=slots_lost_to_broken_connections(),
    ),
    defect(
        "circuit-breaker-for-everybody (ROBUST-02 VAULT-10 ROBUST-04): A merchant that answers nonsense "
        "once is not asked again for a while, and no other merchant either.",
        provisioning_verdict=circuit_stays_open(),
    ),
)
