"""The merchant API: the user's orders and userinfo, protected by a merchant token."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from gateproof.fakes.merchant.answers import NO_STORE, json_answer
from gateproof.fakes.merchant.grants import identity, said
from gateproof.fakes.merchant.merchant import Merchant
from gateproof.fakes.merchant.records import JournalEntry, MintedToken


async def orders(merchant: Merchant, request: Request, entry: JournalEntry) -> Response:
    """The orders of the token's user."""
    token = _bearer(merchant, request, entry)
    if token is None:
        return _challenge(merchant, request)
    return json_answer(merchant.shape, {"orders": merchant.accounts.orders(token.login)}, headers=NO_STORE)


async def userinfo(merchant: Merchant, request: Request, entry: JournalEntry) -> Response:
    """The OpenID Connect claims about that user."""
    token = _bearer(merchant, request, entry)
    user = merchant.accounts.find(token.login) if token else None
    if user is None:
        return _challenge(merchant, request)
    script = merchant.clients.script(entry.client_id or "", user.login)
    claims = said({**identity(user), "x_tier": "gold"}, {**merchant.lies.userinfo, **script.userinfo})
    return json_answer(merchant.shape, claims, headers=NO_STORE)


def _bearer(merchant: Merchant, request: Request, entry: JournalEntry) -> MintedToken | None:
    """The access token of the Authorization header, if it is active."""
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    token = merchant.ledger.find(value.strip(), "access_token") if scheme.lower() == "bearer" else None
    if token is None:
        entry.error = "no access token of this merchant"
        return None
    merchant.ledger.belongs_to(entry, token.client_id)
    entry.login = token.login
    entry.actor = list(token.actor) or None
    if not merchant.ledger.is_active(token):
        entry.error = "the access token is expired or revoked"
        return None
    return token


def _challenge(merchant: Merchant, request: Request) -> Response:
    """401; with a reason only if the request had credentials (RFC 6750 section 3.1)."""
    reason = ', error="invalid_token"' if "authorization" in request.headers else ""
    headers = {"www-authenticate": f'Bearer realm="merchant"{reason}', **NO_STORE}
    return json_answer(merchant.shape, {"error": "unauthorized"}, status=401, headers=headers)
