"""Other legal ways for a service to use merchant tokens, and to call the merchant's API."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import httpx

from gateproof.reference.defects.service.http_caches import by_url, cached
from gateproof.reference.defects.service.users import until_it_expires
from gateproof.reference.service.policy import redemption
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.wire import Answer, Outgoing
from gateproof.reference.variants.variant import variant

_RESERVE_S = 10.0


def _with_claims(facts: CallFacts) -> Outgoing:
    """Sends the claims of the agent's token without header and signature."""
    asked = redemption.merchant_request(facts)
    return replace(asked, headers={**asked.headers, "x-claims": facts.token.split(".")[1]})


def _of_before() -> dict[str, Any]:
    """Redeems for every call; after a refusal, uses the previous merchant token until it expires."""
    kept: dict[Hashable, tuple[str, float]] = {}

    def found(facts: CallFacts, answer: Answer) -> str | None:
        token = redemption.merchant_token_in(facts, answer)
        if token is not None:
            kept[_whose(facts)] = token, until_it_expires(answer.document, time.time())
        return token

    def fallback_token(facts: CallFacts, _answer: Answer) -> str | None:
        token, until = kept.get(_whose(facts), ("", 0.0))
        return token if time.time() < until else None

    return {"merchant_token_in": found, "fallback_token": fallback_token}


def _whose(facts: CallFacts) -> Hashable:
    return str(facts.claims.get("sub")), str(facts.claims.get("ext"))


def _as_a_record(facts: CallFacts, answer: Answer) -> str | None:
    """Ignores a redemption with a member of a wrong type, as typed languages do."""
    scopes = answer.document.get("scopes", [])
    fits = isinstance(scopes, list) and all(isinstance(each, str) for each in scopes)
    return redemption.merchant_token_in(facts, answer) if fits else None


def _by_address_and_token(request: httpx.Request) -> str:
    token = request.headers.get("authorization", "").encode()
    return f"{by_url(request)} {hashlib.sha256(token).hexdigest()}"


def _not_near_its_end(facts: CallFacts, answer: Answer) -> str | None:
    """A merchant token that ends within some seconds is not used; the call fails."""
    now = time.time()
    ends_soon = "expires_at" in answer.document and until_it_expires(answer.document, now) < now + _RESERVE_S
    return None if ends_soon else redemption.merchant_token_in(facts, answer)


VARIANTS = (
    variant(
        "merchant-tokens-with-a-reserve: the service uses no merchant token that ends within ten seconds, "
        "and fails the call",
        merchant_token_in=_not_near_its_end,
    ),
    variant(
        "answers-cached-for-one-token: the HTTP client caches answers by the URL and the token of the "
        "request",
        transport=cached(_by_address_and_token, 300.0),
    ),
    variant(
        "merchant-token-of-before-stands-in: if redemption is refused, the service uses the user's previous "
        "merchant token until its expires_at",
        **_of_before(),
    ),
    variant(
        "claims-passed-to-the-merchant: the service sends the claims of the agent's token to the merchant's "
        "API, without the signature",
        merchant_request=_with_claims,
    ),
    variant(
        "scopes-in-an-array-alone: the service does not accept a redemption response whose scopes are not "
        "an array of strings",
        merchant_token_in=_as_a_record,
    ),
)
