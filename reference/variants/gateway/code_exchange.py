"""Other legal answers to the exchange of a code."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.defects.gateway.code_spellings import by_its_octets
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.keys import KeyRing, SigningKey
from gateproof.reference.gateway.policies import Pairs
from gateproof.reference.gateway.policy import code_exchange, token_claims
from gateproof.reference.gateway.policy.authorization import REDIRECT_CHECKS, AuthorizationFacts
from gateproof.reference.gateway.policy.code_exchange import (
    AGENT_CHECKS,
    TOKEN_REQUEST_CHECKS,
    AgentCredentials,
    AgentFacts,
    CodeCheck,
    CodeFacts,
    CodeRefused,
    RefreshFacts,
    TokenRequestFacts,
)
from gateproof.reference.gateway.records import Code
from gateproof.reference.gateway.store import Expiring
from gateproof.reference.outcomes import JsonObject, Refusal, first_refusal
from gateproof.reference.variants.variant import variant

DAY_S, HOUR_S = 86_400, 3600
INVALID_TARGET = Refusal(
    status=400, error="invalid_target", description="the token is for one Resource, and for what was granted"
)
VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


def _with_status(refusal: Refusal | None, status: int) -> Refusal | None:
    return None if refusal is None else replace(refusal, status=status, challenge=None)


def _credentials_400(facts: TokenRequestFacts) -> AgentCredentials | Refusal:
    found = code_exchange.agent_credentials(facts)
    return replace(found, status=400, challenge=None) if isinstance(found, Refusal) else found


def _agent_400(facts: AgentFacts) -> Refusal | None:
    return _with_status(first_refusal(AGENT_CHECKS, facts), 400)


def _agent_403(facts: AgentFacts) -> Refusal | None:
    refusal = _with_status(first_refusal(AGENT_CHECKS, facts), 403)
    return None if refusal is None else replace(refusal, error="unauthorized_client")


def _shaped_verifier(facts: TokenRequestFacts) -> Refusal | None:
    """Refuses a verifier that RFC 7636 does not allow as a malformed request."""
    refusal = code_exchange.exchange_fields_are_given(facts)
    if refusal is not None or VERIFIER.fullmatch(facts.value("code_verifier")):
        return refusal
    return Refusal(status=400, error="invalid_request", description="code_verifier has the wrong shape")


async def _failed_try_spends_nothing(
    codes: Expiring[Code], key: str, checks: tuple[CodeCheck, ...], facts: CodeFacts
) -> Code | CodeRefused:
    before = codes.get(key)
    outcome = await code_exchange.spend_code(codes, key, checks, facts)
    if before is not None and isinstance(outcome, CodeRefused):
        codes.change(key, before)
    return outcome


async def _used_code_is_gone(
    codes: Expiring[Code], key: str, checks: tuple[CodeCheck, ...], facts: CodeFacts
) -> Code | CodeRefused:
    """Deletes a used code, so that its second use is that of an unknown code."""
    outcome = await code_exchange.spend_code(codes, key, checks, facts)
    codes.take(key)
    return replace(outcome, revokes=None) if isinstance(outcome, CodeRefused) else outcome


def _no_refresh(_facts: RefreshFacts) -> Refusal | None:
    return Refusal(status=400, error="unsupported_grant_type", description="sign in again")


def _reusable_refresh(facts: RefreshFacts) -> Refusal | None:
    token = replace(facts.token, spent=False) if facts.token else None
    return code_exchange.refresh_token_is_good(replace(facts, token=token))


def _refresh_within_an_hour(facts: RefreshFacts) -> Refusal | None:
    """Limits a refresh token to the lifetime of the access token that came with it."""
    token, spare_s = facts.token, code_exchange.REFRESH_TOKEN_LIFETIME_S - HOUR_S
    ends = replace(token, expires_at=token.expires_at - spare_s) if token else None
    return code_exchange.refresh_token_is_good(replace(facts, token=ends))


def _talkative(facts: token_claims.TokenFacts, tokens: token_claims.Tokens) -> JsonObject:
    answer = token_claims.token_answer(facts, tokens)
    extra = {
        "issued_at": "now",
        "": None,
        "refresh_token_expires_in": 86400,
        "resource": facts.resource.indicator,
    }
    return dict(reversed([*answer.items(), *extra.items()]))


def _living(seconds: int) -> Callable[[token_claims.TokenFacts], JsonObject]:
    """The claims of access tokens with this lifetime."""

    def claims(facts: token_claims.TokenFacts) -> JsonObject:
        return {**token_claims.access_token_claims(facts), "exp": int(facts.now) + seconds}

    return claims


def _error_under_another_name(app: ASGIApp, _gateway: Gateway) -> ASGIApp:
    """Renames the member `error` of token errors to `cause`, which has the same length."""

    async def renamed(scope: Scope, receive: Receive, send: Send) -> None:
        async def passed_on(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": message.get("body", b"").replace(b'"error":', b'"cause":')}
            await send(message)

        at_the_token_endpoint = str(scope.get("path", "")).endswith("/oauth2/token")
        await app(scope, receive, passed_on if at_the_token_endpoint else send)

    return renamed


def _keys_of_a_day(core: KeyRing, now: float) -> tuple[SigningKey, ...]:
    return core.current, *(old.key for old in core.retired if now < old.retired_at + DAY_S)


def _no_other_audience(facts: AuthorizationFacts) -> Refusal | None:
    """Refuses a request that names another audience than the Resource indicator (RFC 8707)."""
    named = {*facts.values("resource"), *facts.values("audience")}
    return None if named <= {facts.resource.indicator} else INVALID_TARGET


def _nothing_to_choose(facts: TokenRequestFacts) -> Refusal | None:
    """Refuses fields that choose audience or scopes, because the user has already approved them."""
    chosen = {"resource", "audience"} if facts.value("refresh_token") else {"resource", "audience", "scope"}
    return INVALID_TARGET if chosen & {name for name, _ in facts.form} else None


def _code_by_its_octets(form: Pairs, _query: Pairs) -> Pairs:
    return tuple((name, by_its_octets(value) if name == "code" else value) for name, value in form)


VARIANTS = (
    variant(
        "access-tokens-of-a-minute: an access token is valid for a minute", access_token_claims=_living(60)
    ),
    variant(
        "access-tokens-of-a-day: an access token is valid for a day, and its key stays in the key set as "
        "long",
        access_token_claims=_living(DAY_S),
        live_core_keys=_keys_of_a_day,
        core_keys_shown=lambda core, now, _own: _keys_of_a_day(core, now),
    ),
    variant("codes-for-ten-minutes: a code is valid for ten minutes", code_lifetime_s=600),
    variant(
        "token-errors-under-another-name (CODE-11 PROXY-10): the token endpoint returns errors in the "
        "member `cause` instead of `error`",
        around=_error_under_another_name,
    ),
    variant(
        "wrong-clients-get-400: an agent with wrong credentials gets status 400",
        agent_credentials=_credentials_400,
        agent_checks=(_agent_400,),
    ),
    variant(
        "wrong-clients-get-403: an agent with wrong credentials gets status 403 and unauthorized_client",
        agent_checks=(_agent_403,),
    ),
    variant(
        "misshapen-verifiers-are-invalid-requests: a verifier that RFC 7636 does not allow gets "
        "invalid_request",
        exchange_fields=_shaped_verifier,
    ),
    variant(
        "codes-survive-a-failed-try: a failed exchange does not use up the code",
        spend_code=_failed_try_spends_nothing,
    ),
    variant(
        "used-codes-are-forgotten (CODE-12): the gateway deletes a used code, so that its second use "
        "revokes nothing",
        spend_code=_used_code_is_gone,
    ),
    variant(
        "no-refresh-grant: the gateway does not support OAuth's refresh grant",
        refresh_checks=(_no_refresh,),
    ),
    variant(
        "refresh-tokens-for-good: a refresh token can be used again",
        refresh_checks=(_reusable_refresh, code_exchange.refresh_asks_for_no_more),
    ),
    variant(
        "refresh-tokens-of-an-hour: a refresh token expires with the access token that came with it",
        refresh_checks=(_refresh_within_an_hour, code_exchange.refresh_asks_for_no_more),
    ),
    variant(
        "token-headers-in-other-words: token responses have additional cache directives",
        token_headers=MappingProxyType(
            {"Cache-Control": "private, NO-STORE, max-age=0", "Pragma": "no-cache"}
        ),
    ),
    variant(
        "talkative-token-answers: token responses have unknown members, in another order",
        token_answer=_talkative,
    ),
    variant(
        "other-audiences-refused: the gateway refuses a request that names another audience, and an "
        "exchange that names scopes",
        redirect_checks=(*REDIRECT_CHECKS, _no_other_audience),
        token_request_checks=(*TOKEN_REQUEST_CHECKS, _nothing_to_choose),
    ),
    variant(
        "codes-read-by-their-octets: the gateway decodes a code before it looks it up, so that every "
        "spelling of its octets is the same code",
        token_fields=_code_by_its_octets,
    ),
    variant(
        "url-parameters-ignored: the gateway ignores parameters in the URL of a token request",
        token_request_checks=tuple(
            check for check in TOKEN_REQUEST_CHECKS if check is not code_exchange.nothing_is_in_the_url
        ),
    ),
)
