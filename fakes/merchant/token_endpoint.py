"""The token endpoint: identifies the client, applies the script's outcome, and carries out the grant."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from starlette.requests import Request
from starlette.responses import Response

from gateproof.fakes.merchant.answers import refusal_answer, token_answer
from gateproof.fakes.merchant.assertions import AssertionRefused
from gateproof.fakes.merchant.clients import Client
from gateproof.fakes.merchant.forms import read_form, shown, single
from gateproof.fakes.merchant.grants import Grantee, Issued
from gateproof.fakes.merchant.merchant import Merchant
from gateproof.fakes.merchant.outcomes import OUTCOMES, Call
from gateproof.fakes.merchant.recognition import Recognised, recognise
from gateproof.fakes.merchant.records import JournalEntry
from gateproof.fakes.merchant.refusal import Refused
from gateproof.fakes.merchant.script import Answer, Script

CLIENT_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"  # noqa: S105
# These have separate members in the journal.
ASSERTIONS = ("assertion", "subject_token", "client_assertion")
ISSUED_TYPE = {"issued_token_type": "urn:ietf:params:oauth:token-type:access_token"}


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenRequest:
    """One token request, and its client if it names or authenticates one."""

    merchant: Merchant
    request: Request
    entry: JournalEntry
    form: dict[str, list[str]]
    client: Client | None

    def field(self, name: str) -> str | None:
        return single(self.form, name)


async def token_endpoint(merchant: Merchant, request: Request, entry: JournalEntry) -> Response:
    """Answers one token request."""
    try:
        form = await read_form(request)
        entry.grant = single(form, "grant_type")
        entry.sent = shown(form, *ASSERTIONS)
        entry.assertion = single(form, "assertion")
        entry.subject_token = single(form, "subject_token")
        entry.client_assertion = single(form, "client_assertion")
        if entry.grant == "authorization_code" and merchant.lies.any_code_for is not None:
            return _for_any_code(merchant, entry, merchant.lies.any_code_for)
        client = await _client(merchant, request, entry, form)
        if client is not None:
            merchant.ledger.belongs_to(entry, client.client_id)
        grant = GRANTS.get(entry.grant or "")
        if entry.grant is None or grant is None:
            error = "invalid_request" if entry.grant is None else "unsupported_grant_type"
            raise Refused(error, "grant_type is missing or unknown")
        asked = TokenRequest(merchant=merchant, request=request, entry=entry, form=form, client=client)
        return await grant(asked)
    except Refused as refused:
        entry.error = f"{refused.error}: {refused.description}"
        return refusal_answer(merchant.shape, refused)


async def _client(
    merchant: Merchant, request: Request, entry: JournalEntry, form: dict[str, list[str]]
) -> Client | None:
    """The client that the request names; a client assertion has to be valid."""
    status = merchant.shape.unknown_client_status
    if "authorization" in request.headers or single(form, "client_secret") is not None:
        raise Refused("invalid_client", "clients authenticate by private_key_jwt or not at all", status=401)
    client_id, token = single(form, "client_id"), entry.client_assertion
    client = merchant.clients.find(client_id)
    if client_id is not None and client is None:
        raise Refused("invalid_client", "no such client", status=status)
    if token is None:
        return client
    if single(form, "client_assertion_type") != CLIENT_ASSERTION:
        raise Refused("invalid_request", f"client_assertion_type has to be {CLIENT_ASSERTION}")
    try:
        known = await recognise(merchant, token, client=client, naming_claims=("sub", "iss"))
    except AssertionRefused as refused:
        raise Refused("invalid_client", f"client_assertion: {refused}", status=status) from None
    entry.verified_by["client_assertion"] = known.verified.key
    return known.client


async def _authorization_code(asked: TokenRequest) -> Response:
    merchant, entry = asked.merchant, asked.entry
    code = merchant.ledger.find(asked.field("code") or "", "code")
    if code is None or (asked.client is not None and asked.client.client_id != code.client_id):
        raise Refused("invalid_grant", "no such code for this client")
    merchant.ledger.belongs_to(entry, code.client_id)
    entry.login = code.login

    script = merchant.clients.script(code.client_id, code.login)
    script = replace(script, id_token={**merchant.lies.id_token, **script.id_token})

    def carry_out(_script: Script, _rotate: bool) -> Issued:
        return merchant.grants.exchange(
            code, script, redirect_uri=asked.field("redirect_uri"), verifier=asked.field("code_verifier")
        )

    # An honest sign-in does not count as an outcome: only those of the other grants are counted.
    if script.sign_in.outcome == "ok":
        return token_answer(merchant.shape, carry_out(script, False), {})
    return await _answered(asked, script.sign_in, code.value, carry_out, {})


def _for_any_code(merchant: Merchant, entry: JournalEntry, login: str) -> Response:
    """The answer of a hostile merchant, which accepts any code as one of this user."""
    user = merchant.accounts.find(login)
    if user is None:
        raise Refused("invalid_grant", "the login of the lie has no account")
    client = merchant.clients.find(entry.sent.get("client_id")) or Client(client_id="anybody")
    entry.login = login
    grantee = Grantee(client=client, user=user, act=None, scope="openid")
    script = Script(id_token=dict(merchant.lies.id_token))
    return token_answer(merchant.shape, merchant.grants.unasked(grantee, script), {})


async def _jwt_bearer(asked: TokenRequest) -> Response:
    return await _asserted(asked, "assertion", {})


async def _token_exchange(asked: TokenRequest) -> Response:
    return await _asserted(asked, "subject_token", ISSUED_TYPE)


async def _asserted(asked: TokenRequest, name: str, extra: dict[str, Any]) -> Response:
    """The two grants in which the gateway asserts a user by a JWT."""
    token = asked.field(name)
    if token is None:
        raise Refused("invalid_request", f"{name} is missing")
    known = await _verified(asked, token, name)
    claims, entry, merchant = known.verified.claims, asked.entry, asked.merchant
    login = claims.get("sub")
    merchant.ledger.belongs_to(entry, known.client.client_id)
    entry.actor = claims.get("act")
    entry.login = login if isinstance(login, str) else None
    entry.verified_by[name] = known.verified.key

    def carry_out(script: Script, _rotate: bool) -> Issued:
        user = merchant.accounts.find(entry.login or "")
        if user is None:
            raise Refused("invalid_grant", "sub is not a login of this merchant")
        grantee = Grantee(client=known.client, user=user, act=entry.actor, scope=asked.field("scope"))
        return merchant.grants.provision(grantee, script)

    answer = merchant.clients.next_answer(known.client.client_id, entry.login, "provisioning")
    return await _answered(asked, answer, token, carry_out, extra)


async def _verified(asked: TokenRequest, token: str, name: str) -> Recognised:
    indicators = frozenset(asked.form.get("resource", []) + asked.form.get("audience", []))
    try:
        return await recognise(
            asked.merchant,
            token,
            client=asked.client,
            naming_claims=("client_id", "azp", "iss"),
            indicators=indicators,
        )
    except AssertionRefused as refused:
        raise Refused("invalid_grant", f"{name}: {refused}") from None


async def _refresh_token(asked: TokenRequest) -> Response:
    merchant, entry = asked.merchant, asked.entry
    token = merchant.ledger.find(asked.field("refresh_token") or "", "refresh_token")
    if token is None or (asked.client is not None and asked.client.client_id != token.client_id):
        raise Refused("invalid_grant", "no such refresh token for this client")
    merchant.ledger.belongs_to(entry, token.client_id)
    entry.login = token.login
    entry.actor = list(token.actor) or None

    def carry_out(script: Script, rotate: bool) -> Issued:
        return merchant.grants.refresh(token, script, rotate=rotate)

    def withdraw() -> None:
        merchant.ledger.revoke_family(token.family, "refresh_token")

    answer = merchant.clients.next_answer(token.client_id, entry.login, "refresh")
    return await _answered(asked, answer, token.value, carry_out, {}, withdraw)


async def _answered(
    asked: TokenRequest,
    answer: Answer,
    sent: str,
    grant: Callable[[Script, bool], Issued],
    extra: dict[str, Any],
    withdraw: Callable[[], None] = lambda: None,
) -> Response:
    """Applies the outcome that the script selected to a valid grant."""
    merchant, entry = asked.merchant, asked.entry
    client_id = entry.client_id or ""
    entry.outcome = answer.outcome
    merchant.ledger.count(client_id, answer.outcome)

    def carry_out(rotate: bool) -> Response:
        try:
            issued = grant(merchant.clients.script(client_id, entry.login), rotate)
        except Refused as refused:
            entry.error = f"{refused.error}: {refused.description}"
            return refusal_answer(merchant.shape, refused)
        return token_answer(merchant.shape, issued, extra)

    async def gone() -> None:
        while (await asked.request.receive())["type"] != "http.disconnect":
            pass

    call = Call(
        answer=answer,
        shape=merchant.shape,
        gates=merchant.gates,
        carry_out=carry_out,
        gone=gone,
        withdraw=withdraw,
        sent=sent,
    )
    return await OUTCOMES[answer.outcome](call)


GrantHandler: TypeAlias = Callable[[TokenRequest], Awaitable[Response]]
GRANTS: dict[str, GrantHandler] = {
    "authorization_code": _authorization_code,
    "refresh_token": _refresh_token,
    JWT_BEARER: _jwt_bearer,
    TOKEN_EXCHANGE: _token_exchange,
}
