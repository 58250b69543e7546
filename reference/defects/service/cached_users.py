"""Services that remember of a user what they should forget, or forget what they should remember."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import jwt
from starlette.types import ASGIApp, Receive, Scope, Send

from gateproof.reference.defects.service.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy import proxy, redemption
from gateproof.reference.service.policy.keys import Known
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.settings import Settings
from gateproof.reference.service.upstream import Unavailable
from gateproof.reference.service.wire import Answer, Outgoing


def user_of(headers: Mapping[str, str]) -> str:
    """The subject of the token in a request, believed; empty where there is none."""
    try:
        claims = jwt.decode(headers.get("authorization", "")[7:], options={"verify_signature": False})
    except jwt.PyJWTError:
        return ""
    return str(claims.get("sub", ""))


def failures_remembered() -> Any:
    """A cache of promises keeps those that were broken."""
    failed: set[str] = set()

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        user = user_of(asked.headers)
        if answered.status == 503:
            failed.add(user)
        return replace(answered, status=503, body=b"") if user and user in failed else answered

    return meddling(change)


def sent_away_for_good(*statuses: int) -> Any:
    """Who was refused like this is remembered, and nobody forgets it when the user has authorized again."""
    sent_away: set[str] = set()

    def noted(facts: CallFacts, answer: Answer) -> str | None:
        user = str(facts.claims.get("sub"))
        if answer.status in statuses:
            sent_away.add(user)
        return None if user in sent_away else redemption.merchant_token_in(facts, answer)

    return noted


def anything_kept() -> Any:
    """Whatever stands where a merchant token should is the user's from then on."""
    kept: dict[str, str] = {}

    def found(facts: CallFacts, answer: Answer) -> str | None:
        user, token = str(facts.claims.get("sub")), redemption.merchant_token_in(facts, answer)
        if token is None and answer.status == 200 and "access_token" in answer.document:
            kept[user] = str(answer.document["access_token"])
        return kept.get(user, token)

    return found


def last_orders_of_the_user() -> dict[str, Any]:
    """`except Refused: return last_orders[user, project]`."""
    users: dict[str, Hashable] = {}
    refused: set[str] = set()
    shown: dict[Hashable, bytes] = {}

    def redemption_request(facts: CallFacts) -> Outgoing:
        users[facts.token] = facts.claims.get("sub"), json.dumps(facts.claims.get("ext"))
        return redemption.redemption_request(facts)

    def stand_in(facts: CallFacts, _answer: Answer) -> None:
        refused.add(facts.token)

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        token = asked.headers.get("authorization", "")[7:]
        user = users.pop(token, None)
        if user is not None and answered.status == 200:
            shown[user] = answered.body
        elif user in shown and token in refused:
            return replace(answered, status=200, body=shown[user])
        return answered

    return {"redemption_request": redemption_request, "stand_in": stand_in, "around": meddling(change)}


def first_token_of_the_user() -> Any:
    """`clients.setdefault(claims["sub"], GatewayClient(token))`."""
    first: dict[str, str] = {}

    def redemption_request(facts: CallFacts) -> Outgoing:
        token = first.setdefault(str(facts.claims.get("sub")), facts.token)
        return redemption.redemption_request(replace(facts, token=token))

    return redemption_request


def readied(app: ASGIApp, backend: Backend) -> ASGIApp:
    """The Proxy token is got before the first call, as soon as anybody asks for anything."""

    async def readied(scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(Unavailable):
            await backend.proxy_tokens.current(backend.policies.proxy_slot())
        await app(scope, receive, send)

    return readied


def nothing_for_good(before: Known | None) -> Known | None:
    """`this.discovery ??= fetchDiscovery()`: what came to nothing the first time is what there is."""
    return Known(issuer="", token_endpoint="", keys=(), fetched_at=math.inf) if before is None else None


def first_request_for_good() -> dict[str, Any]:
    """`this.proxyToken ??= fetchProxyToken()`: a promise that was broken once stays broken."""
    came, lost = False, False

    def noted(asked: Outgoing, answer: Answer) -> None:
        nonlocal came, lost
        if b"grant_type" in asked.body:
            came = came or answer.status == 200
            lost = not came

    def asked_for(settings: Settings, endpoint: str) -> Outgoing:
        return Outgoing(method="POST", url="") if lost else proxy.proxy_token_request(settings, endpoint)

    return {"followed": noted, "proxy_token_request": asked_for}


DEFECTS = (
    defect(
        "first-fetch-remembered (BACK-06 SERVE-01 SERVE-02): Where the first fetch of discovery document "
        "and keys fails, there is no second: no token is good.",
        keys_while_out_of_reach=nothing_for_good,
    ),
    defect(
        "first-proxy-token-request-remembered (BACK-06 SERVE-01 SERVE-02): Where the first request for a "
        "Proxy token fails, there is no second: nobody is served.",
        **first_request_for_good(),
    ),
    defect(
        "failed-redemption-remembered (BACK-06 BACK-07): A user whose operation once failed for the "
        "gateway's sake is not served any more.",
        around=failures_remembered(),
    ),
    defect(
        "reauthentication-remembered (BACK-07): A user who once had to authorize again is not served any "
        "more, with a new token either.",
        merchant_token_in=sent_away_for_good(410),
    ),
    defect(
        "refusal-remembered (BACK-07): A user whose token was once refused at redemption is not served any "
        "more, with a new token either.",
        merchant_token_in=sent_away_for_good(400, 401),
    ),
    defect(
        "garbage-kept-as-a-merchant-token (BACK-06): What comes in place of a user's merchant token is used "
        "for that user from then on.",
        merchant_token_in=anything_kept(),
    ),
    defect(
        "last-orders-of-the-user-shown-again (BACK-07): When redemption refuses a user, the orders that "
        "this user was shown the last time are shown again.",
        **last_orders_of_the_user(),
    ),
    defect(
        "first-token-of-a-user-redeemed (BACK-04 BACK-07 BACK-08): What a user's first token was is "
        "redeemed at every call of this user, whatever token comes.",
        redemption_request=first_token_of_the_user(),
    ),
    defect(
        "proxy-token-got-beforehand-for-ever (BACK-03): The Proxy token that was there before the first "
        "call is used for ever.",
        around=readied,
        proxy_token_is_due=lambda _token, _now: False,
        mends=lambda _answer: False,
    ),
)
