"""Services that remember of a user what they should forget, or forget what they should remember."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import jwt
from starlette.types import ASGIApp, Receive, Scope, Send

from reference.defects.meddling import Answered, Asked, meddling
from reference.defects.service_defect import ServiceDefect, defect
from reference.service.backend import Backend
from reference.service.policy import redemption
from reference.service.policy.redemption import CallFacts
from reference.service.upstream import Unavailable
from reference.service.wire import Answer


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


def sent_away_for_good() -> Any:
    """Who has to authorize again is remembered, and nobody forgets it when that is done."""
    sent_away: set[str] = set()

    def noted(facts: CallFacts, answer: Answer) -> str | None:
        user = str(facts.claims.get("sub"))
        if answer.status == 410:
            sent_away.add(user)
        return None if user in sent_away else redemption.merchant_token_in(facts, answer)

    return noted


def readied(app: ASGIApp, backend: Backend) -> ASGIApp:
    """The Proxy token is got before the first call, as soon as anybody asks for anything."""

    async def readied(scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(Unavailable):
            await backend.proxy_tokens.current(backend.policies.proxy_slot())
        await app(scope, receive, send)

    return readied


REMEMBERING: tuple[ServiceDefect, ...] = (
    defect(
        "failed-redemption-remembered",
        "A user whose operation once failed for the gateway's sake is not served any more.",
        "BACK-06",
        around=failures_remembered(),
    ),
    defect(
        "reauthentication-remembered",
        "A user who once had to authorize again is not served any more, with a new token either.",
        "BACK-07",
        merchant_token_in=sent_away_for_good(),
    ),
    defect(
        "proxy-token-got-beforehand-for-ever",
        "The Proxy token that was there before the first call is used for ever.",
        "BACK-03",
        around=readied,
        proxy_token_is_due=lambda _token, _now: False,
        mends=lambda _answer: False,
    ),
)
