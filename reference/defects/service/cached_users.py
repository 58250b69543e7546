"""Services that keep a failure, a refusal or a token for too long."""

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
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy import proxy, redemption
from gateproof.reference.service.policy.keys import Known
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.settings import Settings
from gateproof.reference.service.upstream import Unavailable
from gateproof.reference.service.wire import Answer, Outgoing


def user_of(headers: Mapping[str, str]) -> str:
    """The subject of the token in a request, not verified; empty without a token."""
    try:
        claims = jwt.decode(headers.get("authorization", "")[7:], options={"verify_signature": False})
    except jwt.PyJWTError:
        return ""
    return str(claims.get("sub", ""))


def failures_remembered() -> Any:
    """A cache of promises keeps rejected promises."""
    failed: set[str] = set()

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        user = user_of(asked.headers)
        if answered.status == 503:
            failed.add(user)
        return replace(answered, status=503, body=b"") if user and user in failed else answered

    return altering_answers(change)


def refused_for_ever(*statuses: int) -> Any:
    """Users who were refused with these statuses stay refused, even after a new authorization."""
    refused_users: set[str] = set()

    def noted(facts: CallFacts, answer: Answer) -> str | None:
        user = str(facts.claims.get("sub"))
        if answer.status in statuses:
            refused_users.add(user)
        return None if user in refused_users else redemption.merchant_token_in(facts, answer)

    return noted


def anything_kept() -> Any:
    """An invalid access_token in a redemption response is kept and used for the user from then on."""
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

    def fallback_token(facts: CallFacts, _answer: Answer) -> None:
        refused.add(facts.token)

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        token = asked.headers.get("authorization", "")[7:]
        user = users.pop(token, None)
        if user is not None and answered.status == 200:
            shown[user] = answered.body
        elif user in shown and token in refused:
            return replace(answered, status=200, body=shown[user])
        return answered

    return {
        "redemption_request": redemption_request,
        "fallback_token": fallback_token,
        "around": altering_answers(change),
    }


def first_token_of_the_user() -> Any:
    """`clients.setdefault(claims["sub"], GatewayClient(token))`."""
    first: dict[str, str] = {}

    def redemption_request(facts: CallFacts) -> Outgoing:
        token = first.setdefault(str(facts.claims.get("sub")), facts.token)
        return redemption.redemption_request(replace(facts, token=token))

    return redemption_request


def with_early_proxy_token(app: ASGIApp, backend: Backend) -> ASGIApp:
    """The service gets a Proxy token before it handles a request of any kind."""

    async def with_token(scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(Unavailable):
            await backend.proxy_tokens.current(backend.policies.proxy_slot())
        await app(scope, receive, send)

    return with_token


def nothing_for_good(before: Known | None) -> Known | None:
    """`this.discovery ??= fetchDiscovery()`: a failed first fetch is kept for ever."""
    return Known(issuer="", token_endpoint="", keys=(), fetched_at=math.inf) if before is None else None


def first_request_for_good() -> dict[str, Any]:
    """`this.proxyToken ??= fetchProxyToken()`: a rejected promise stays rejected."""
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
        "first-fetch-remembered (BACK-06 SERVE-01 SERVE-02): If the first fetch of discovery document and "
        "keys fails, the service never repeats it and refuses every token.",
        keys_while_out_of_reach=nothing_for_good,
    ),
    defect(
        "first-proxy-token-request-remembered (BACK-06 SERVE-01 SERVE-02): If the first request for a Proxy "
        "token fails, the service never repeats it and serves nobody.",
        **first_request_for_good(),
    ),
    defect(
        "failed-redemption-remembered (BACK-06 BACK-07): After one 503 for a user, the service answers 503 "
        "to every later request of this user.",
        around=failures_remembered(),
    ),
    defect(
        "reauthentication-remembered (BACK-07): After redemption has answered 410 for a user, the service "
        "never serves this user again, even with a new token.",
        merchant_token_in=refused_for_ever(410),
    ),
    defect(
        "refusal-remembered (BACK-07): After redemption has answered 400 or 401 for a user, the service "
        "never serves this user again, even with a new token.",
        merchant_token_in=refused_for_ever(400, 401),
    ),
    defect(
        "garbage-kept-as-a-merchant-token (BACK-06): If redemption answers 200 with an invalid access_token, "
        "the service uses it for this user from then on.",
        merchant_token_in=anything_kept(),
    ),
    defect(
        "last-orders-of-the-user-shown-again (BACK-07): If redemption returns no merchant token, the service "
        "shows the orders of the user's last successful call.",
        **last_orders_of_the_user(),
    ),
    defect(
        "first-token-of-a-user-redeemed (BACK-04 BACK-07 BACK-08): The service redeems a user's first token "
        "in every call of this user, whatever token the call has.",
        redemption_request=first_token_of_the_user(),
    ),
    defect(
        "proxy-token-got-beforehand-for-ever (BACK-03): The service gets a Proxy token before the first call "
        "and never renews it.",
        around=with_early_proxy_token,
        proxy_token_is_due=lambda _token, _now: False,
        warrants_new_proxy_token=lambda _answer: False,
    ),
)
