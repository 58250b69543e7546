"""Services that fail on bad input, or do not recover from it."""

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
from gateproof.reference.defects.service.mcp_headers import OF_EVERY_OBJECT
from gateproof.reference.defects.service.row import defect
from gateproof.reference.defects.service.users import CONCURRENT_S
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy import validation
from gateproof.reference.service.policy.validation import CLAIM_CHECKS, ClaimFacts, Jwk

MOST_BAD_TOKENS = 150
WORKERS = 16


def header_taken_for_granted(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
    """The part before the first dot is decoded as a base64 JSON object with `alg`, without checks."""
    encoded = token.partition(".")[0]
    header = json.loads(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))
    return validation.signed_claims(token, keys) if header["alg"].isascii() else None


def keys_looked_up_in_an_object(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
    """A `kid` that every object has as a member finds that, and the signature is verified with it."""
    if validation.header_of(token).get("kid") in OF_EVERY_OBJECT:
        raise TypeError("no key, but a member of every object")
    return validation.signed_claims(token, keys)


def claims_taken_for_granted(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
    """The token is split into three parts, and its claims are read before the signature is verified."""
    _, encoded, _ = token.split(".")
    claims = json.loads(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))
    return validation.signed_claims(token, keys) if claims["iss"] else None


def expiry_taken_for_a_date(facts: ClaimFacts) -> bool:
    """The expiry is compared as a date, which fails for large numbers."""
    expires = validation.expiry(facts)
    return expires is not None and datetime.fromtimestamp(expires, UTC).timestamp() > facts.now


def body_taken_for_granted(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """The body of the operation is used as a JSON object without a check."""
    if asked.path != "/orders" or asked.method != "POST" or answered.status != 200:
        return answered
    try:
        broken = not isinstance(json.loads(asked.body or b"{}"), dict)
    except ValueError:
        broken = True
    return replace(answered, status=500, body=b"{}") if broken else answered


def member_taken_for_granted(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """`range(body["limit"])`, without a type check."""
    if asked.path != "/orders" or answered.status != 200:
        return answered
    try:
        body = json.loads(asked.body)
    except (ValueError, RecursionError):
        return answered
    fits = not isinstance(body, dict) or isinstance(body.get("limit", 0), int)
    return answered if fits else replace(answered, status=500, body=b"{}")


def forwarded_host_taken_for_granted(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """Challenge and metadata contain a URL that is made from X-Forwarded-Host without a check."""
    if answered.status != 401 and not asked.path.startswith("/.well-known/"):
        return answered
    try:
        urlsplit(f"https://{asked.headers.get('x-forwarded-host', 'localhost')}").port  # noqa: B018 - it parses
    except ValueError:
        return replace(answered, status=500, body=b"{}")
    return answered


def methods_taken_for_granted(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """A method that is not expected ends in 500."""
    usual = {"GET", "HEAD", "POST"} if asked.path == "/orders" else {"GET", "HEAD"}
    return answered if asked.method in usual else replace(answered, status=500, body=b"{}")


def charset_taken_for_granted(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """The charset of Content-Type is used without a check."""
    _, _, charset = asked.headers.get("content-type", "").partition("charset=")
    try:
        codecs.lookup(charset.strip('" ') or "utf-8")
    except LookupError:
        return replace(answered, status=500, body=b"{}")
    return answered


def headers_taken_for_granted(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """Every header is decoded as UTF-8 for the log."""
    try:
        "".join(asked.headers.values()).encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return replace(answered, status=500, body=b"{}")
    return answered


def query_taken_for_granted(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """The percent-encoded query is decoded as UTF-8."""
    try:
        unquote(asked.query, errors="strict")
    except UnicodeDecodeError:
        return replace(answered, status=500, body=b"{}")
    return answered


def locked_out() -> Any:
    """After too many bad tokens from all callers together, every call is refused."""
    bad = 0

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        nonlocal bad
        if bad > MOST_BAD_TOKENS and asked.path == "/orders":
            return Answered(status=403, headers=(), body=b"")
        bad = bad + 1 if answered.status == 401 else max(0, bad - 1)
        return answered

    return altering_answers(change)


def workers_lost(app: ASGIApp, _backend: Backend) -> ASGIApp:
    """A bad token ends its worker if it arrives during other requests; no worker is restarted."""
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
            await asyncio.sleep(CONCURRENT_S)
            await app(scope, receive, noting)
        finally:
            under_way -= 1

    return working


DEFECTS = (
    defect(
        "header-taken-for-granted (ROBUST-01 CHAL-03 CHAL-04): A token whose header is not a JSON object "
        "with an alg ends in 500.",
        signed_claims=header_taken_for_granted,
    ),
    defect(
        "keys-looked-up-in-an-object (ROBUST-01): A token whose kid names an inherited member of JavaScript "
        "objects ends in 500.",
        signed_claims=keys_looked_up_in_an_object,
    ),
    defect(
        "claims-taken-for-granted (ROBUST-01 CHAL-03 CHAL-04 CHAL-05): A token without three parts, or "
        "without an issuer, ends in 500.",
        signed_claims=claims_taken_for_granted,
    ),
    defect(
        "expiry-taken-for-a-date (ROBUST-01): A valid token whose expiry is too large for a date ends in "
        "500.",
        claim_checks=instead(CLAIM_CHECKS, validation.not_expired, expiry_taken_for_a_date),
    ),
    defect(
        "body-taken-for-granted (ROBUST-01): A body that is not a JSON object ends in 500.",
        around=altering_answers(body_taken_for_granted),
    ),
    defect(
        "member-taken-for-granted (ROBUST-01): A body whose member limit is not an integer ends in 500.",
        around=altering_answers(member_taken_for_granted),
    ),
    defect(
        "forwarded-host-taken-for-granted (ROBUST-01): For an invalid host in X-Forwarded-Host, challenge "
        "and metadata end in 500.",
        around=altering_answers(forwarded_host_taken_for_granted),
    ),
    defect(
        "methods-taken-for-granted (ROBUST-01): A method that is not expected ends in 500.",
        around=altering_answers(methods_taken_for_granted),
    ),
    defect(
        "charset-taken-for-granted (ROBUST-01): A body with an unknown charset in Content-Type ends in 500.",
        around=altering_answers(charset_taken_for_granted),
    ),
    defect(
        "headers-taken-for-granted (ROBUST-01 CHAL-03): A header that is not UTF-8 ends in 500.",
        around=altering_answers(headers_taken_for_granted),
    ),
    defect(
        "query-taken-for-granted (ROBUST-01): A query that is not UTF-8 ends in 500.",
        around=altering_answers(query_taken_for_granted),
    ),
    defect(
        "workers-lost-by-a-flood (ROBUST-02 SERVE-01 SERVE-02 SECRET-02): A bad token that arrives together "
        "with other requests ends a worker, which is not restarted.",
        around=workers_lost,
    ),
    defect(
        "locked-out-by-a-flood (ROBUST-02 ROBUST-01 SERVE-01 SERVE-02 SECRET-02): After about 150 bad "
        "tokens, the service refuses every call.",
        around=locked_out(),
    ),
)
