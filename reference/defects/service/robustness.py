"""Services that break on bad input, or stay broken after it."""

from __future__ import annotations

import asyncio
import base64
import codecs
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote, urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.service.row import defect
from gateproof.reference.defects.service.users import AT_ONCE_S
from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy import validation
from gateproof.reference.service.policy.validation import CLAIM_CHECKS, ClaimFacts, Jwk

MOST_BAD_TOKENS = 150
WORKERS = 16


def header_taken_for_granted(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
    """Whatever stands before the first dot is taken for base64, JSON, and an object with an algorithm."""
    encoded = token.partition(".")[0]
    header = json.loads(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))
    return validation.signed_claims(token, keys) if header["alg"].isascii() else None


def claims_taken_for_granted(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
    """Three parts, of which the second is looked into before the signature is."""
    _, encoded, _ = token.split(".")
    claims = json.loads(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))
    return validation.signed_claims(token, keys) if claims["iss"] else None


def expiry_taken_for_a_date(facts: ClaimFacts) -> bool:
    """The time of an expiry is compared as a date, and calendars end."""
    expires = validation.expiry(facts)
    return expires is not None and datetime.fromtimestamp(expires, UTC).timestamp() > facts.now


def agent_taken_for_granted(facts: ClaimFacts) -> bool:
    """Some agents are barred by their name, which is read where it always stood."""
    return bool(facts.claims["ext"]["agent"]["name"] != "Barred agent")


def body_taken_for_granted(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """The body of the operation is taken for a JSON object."""
    if asked.path != "/orders" or asked.method != "POST" or answered.status != 200:
        return answered
    try:
        broken = not isinstance(json.loads(asked.body or b"{}"), dict)
    except ValueError:
        broken = True
    return replace(answered, status=500, body=b"{}") if broken else answered


def member_taken_for_granted(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """`range(body["limit"])`, where there is one."""
    if asked.path != "/orders" or answered.status != 200:
        return answered
    try:
        body = json.loads(asked.body)
    except (ValueError, RecursionError):
        return answered
    fits = not isinstance(body, dict) or isinstance(body.get("limit", 0), int)
    return answered if fits else replace(answered, status=500, body=b"{}")


def forwarded_host_taken_for_granted(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """Where the service says where it is, it puts its address together from what a proxy has said."""
    if answered.status != 401 and not asked.path.startswith("/.well-known/"):
        return answered
    try:
        urlsplit(f"https://{asked.headers.get('x-forwarded-host', 'localhost')}").port  # noqa: B018 - it parses
    except ValueError:
        return replace(answered, status=500, body=b"{}")
    return answered


def methods_taken_for_granted(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """Whoever comes with a method that nobody was expected to use breaks it."""
    usual = {"GET", "HEAD", "POST"} if asked.path == "/orders" else {"GET", "HEAD"}
    return answered if asked.method in usual else replace(answered, status=500, body=b"{}")


def charset_taken_for_granted(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """Whatever the label of a body says that it is written in is taken for an encoding."""
    _, _, charset = asked.headers.get("content-type", "").partition("charset=")
    try:
        codecs.lookup(charset.strip('" ') or "utf-8")
    except LookupError:
        return replace(answered, status=500, body=b"{}")
    return answered


def headers_taken_for_granted(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """Every header is taken for UTF-8 on its way into the log."""
    try:
        "".join(asked.headers.values()).encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return replace(answered, status=500, body=b"{}")
    return answered


def query_taken_for_granted(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """What is percent-encoded in a query is taken for UTF-8."""
    try:
        unquote(asked.query, errors="strict")
    except UnicodeDecodeError:
        return replace(answered, status=500, body=b"{}")
    return answered


def locked_out() -> Any:
    """Too many bad tokens in all, and nobody is let in any more."""
    bad = 0

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        nonlocal bad
        if bad > MOST_BAD_TOKENS and asked.path == "/orders":
            return Answered(status=403, headers=(), body=b"")
        bad = bad + 1 if answered.status == 401 else max(0, bad - 1)
        return answered

    return meddling(change)


def workers_lost(app: ASGIApp, _backend: Backend) -> ASGIApp:
    """A bad token that comes while others are being looked at takes its worker down; there are so many."""
    left, under_way = WORKERS, 0

    async def working(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal left, under_way
        if not scope["path"].endswith("/orders"):
            await app(scope, receive, send)
            return
        if left <= 0:
            # uvicorn closes a connection whose application ends in the middle of an answer.
            await send({"type": "http.response.start", "status": 500, "headers": [(b"content-length", b"9")]})
            raise ConnectionAbortedError

        async def noting(message: Message) -> None:
            nonlocal left
            left -= message.get("status") == 401 and under_way > 1
            await send(message)

        under_way += 1
        try:
            await asyncio.sleep(AT_ONCE_S)
            await app(scope, receive, noting)
        finally:
            under_way -= 1

    return working


DEFECTS = (
    defect(
        "header-taken-for-granted (ROBUST-01 CHAL-03 CHAL-04): A token whose header is no JSON object with "
        "an algorithm ends in 500.",
        signed_claims=header_taken_for_granted,
    ),
    defect(
        "claims-taken-for-granted (ROBUST-01 CHAL-03 CHAL-04 CHAL-05): A token that has no three parts, or "
        "no issuer in the second, ends in 500.",
        signed_claims=claims_taken_for_granted,
    ),
    defect(
        "expiry-taken-for-a-date (ROBUST-01): A good token whose expiry is in no calendar ends in 500.",
        claim_checks=instead(CLAIM_CHECKS, validation.not_expired, expiry_taken_for_a_date),
    ),
    defect(
        "agent-taken-for-granted (ROBUST-01): A good token that does not say the name of its agent ends in "
        "500.",
        claim_checks=(*CLAIM_CHECKS, agent_taken_for_granted),
    ),
    defect(
        "body-taken-for-granted (ROBUST-01): A body that is no JSON object ends in 500.",
        around=meddling(body_taken_for_granted),
    ),
    defect(
        "member-taken-for-granted (ROBUST-01): A body in which one member is of another type than the one "
        "that was expected ends in 500.",
        around=meddling(member_taken_for_granted),
    ),
    defect(
        "forwarded-host-taken-for-granted (ROBUST-01): A name of a host that is none, in a header of a "
        "proxy's, ends challenge and metadata in 500.",
        around=meddling(forwarded_host_taken_for_granted),
    ),
    defect(
        "methods-taken-for-granted (ROBUST-01): Any method but those that are in use ends in 500.",
        around=meddling(methods_taken_for_granted),
    ),
    defect(
        "charset-taken-for-granted (ROBUST-01): A body whose label names no known charset ends in 500.",
        around=meddling(charset_taken_for_granted),
    ),
    defect(
        "headers-taken-for-granted (ROBUST-01 CHAL-03): A header that is no UTF-8 ends in 500.",
        around=meddling(headers_taken_for_granted),
    ),
    defect(
        "query-taken-for-granted (ROBUST-01): A query that is no UTF-8 ends in 500.",
        around=meddling(query_taken_for_granted),
    ),
    defect(
        "workers-lost-by-a-flood (ROBUST-02 SERVE-01 SERVE-02 SECRET-02): A bad token that comes together "
        "with others takes a worker down, and nobody starts another.",
        around=workers_lost,
    ),
    defect(
        "locked-out-by-a-flood (ROBUST-02 ROBUST-01 SERVE-01 SERVE-02 SECRET-02): After a flood of bad "
        "tokens nobody is let in any more.",
        around=locked_out(),
    ),
)
