"""Gateways with wrong members in the answers of the token endpoint."""

from __future__ import annotations

from collections.abc import Callable

from gateproof.reference.defects.defect import without_members
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy.proxy import proxy_token_answer
from gateproof.reference.gateway.policy.token_claims import TokenFacts, Tokens, token_answer
from gateproof.reference.outcomes import JsonObject


def leaving_out(*names: str) -> Callable[[TokenFacts, Tokens], JsonObject]:
    return lambda facts, tokens: without_members(token_answer(facts, tokens), *names)


def scope_as_array(facts: TokenFacts, tokens: Tokens) -> JsonObject:
    return token_answer(facts, tokens) | {"scope": list(facts.scopes)}


DEFECTS = (
    defect(
        "no-id-token (CODE-01 CLAIM-09): The token answer has no id_token.",
        token_answer=leaving_out("id_token"),
    ),
    defect(
        "no-refresh-token (CODE-01 CLAIM-12): The token answer has no refresh_token.",
        token_answer=leaving_out("refresh_token"),
    ),
    defect(
        "no-scope (CODE-01): The token answer has no scope.",
        token_answer=leaving_out("scope"),
    ),
    defect(
        "scope-as-an-array (CODE-01): The scope in the token answer is an array.", token_answer=scope_as_array
    ),
    defect(
        "proxy-lifetime-as-a-string (PROXY-01 PROXY-02): expires_in of a Proxy token is a string.",
        proxy_token_answer=lambda token, life: proxy_token_answer(token, life) | {"expires_in": str(life)},
    ),
    defect(
        "proxy-lifetime-left-out (PROXY-01 PROXY-02): The answer with a Proxy token has no expires_in.",
        proxy_token_answer=lambda token, life: without_members(proxy_token_answer(token, life), "expires_in"),
    ),
    defect(
        "proxy-token-type-null (PROXY-01 PROXY-10): The token_type of a Proxy token is null.",
        proxy_token_answer=lambda token, life: proxy_token_answer(token, life) | {"token_type": None},
    ),
    defect(
        "proxy-token-type-as-a-list (PROXY-01 PROXY-10): The token_type of a Proxy token is a list.",
        proxy_token_answer=lambda token, life: proxy_token_answer(token, life) | {"token_type": ["Bearer"]},
    ),
    defect(
        "proxy-token-under-another-name (PROXY-01 PROXY-10 KEYS-04 REDEEM-01 REDEEM-02 REDEEM-03 REDEEM-04 "
        "REDEEM-05): The answer has the Proxy token in the member proxy_token instead of access_token.",
        proxy_token_answer=lambda token, life: {"proxy_token": token, "expires_in": life},
    ),
    defect(
        "proxy-token-for-a-day (PROXY-02 PROXY-07 REDEEM-11): A Proxy token is valid for a day.",
        proxy_token_lifetime_s=86400,
    ),
    defect(
        "proxy-token-for-a-minute (PROXY-02 PROXY-06 VAULT-01 VAULT-07): A Proxy token is valid for a "
        "minute.",
        proxy_token_lifetime_s=60,
    ),
)
