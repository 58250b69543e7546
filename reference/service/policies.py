"""Every decision of the service in one value. A defect or variant replaces one of them."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

import httpx
from starlette.types import ASGIApp

from gateproof.reference.service.policy import (
    answers,
    keys,
    metadata_and_challenge,
    origins,
    proxy,
    redemption,
    validation,
)
from gateproof.reference.service.settings import Settings
from gateproof.reference.service.upstream import Patience, followed, is_retryable, transport
from gateproof.reference.service.wire import Answer, Asked, Kind, Outcome, Outgoing, Reply
from gateproof.reference.serving import Listen, listen


@dataclass(frozen=True, kw_only=True)
class Policies:
    """The correct decisions, one for each field."""

    # Metadata and challenge
    metadata_path: Callable[[Settings], str] = metadata_and_challenge.metadata_path
    metadata_document: Callable[[Settings], Any] = metadata_and_challenge.metadata_document
    metadata_type: str = "application/json"
    challenges: Callable[[metadata_and_challenge.ChallengeFacts], tuple[str, ...]] = (
        metadata_and_challenge.challenges
    )

    # The status for a request of another site to the MCP endpoint; None if it is not from one
    refusal_of_another_site: Callable[[Asked], int | None] = origins.refusal_of_another_site

    # The agent's token
    presented_token: Callable[[Asked], str | None] = validation.presented_token
    key_set_uris: Callable[[Settings, Mapping[str, Any]], tuple[Any, ...]] = validation.key_set_uris
    signed_claims: Callable[[str, Sequence[validation.Jwk]], dict[str, Any] | None] = validation.signed_claims
    claim_checks: tuple[validation.ClaimCheck, ...] = validation.CLAIM_CHECKS
    keys_while_out_of_reach: Callable[[keys.Known | None], keys.Known | None] = keys.while_out_of_reach
    keys_for_s: float = 300
    # A token with an unknown key may be the first one with a new key.
    keys_again_after_s: float = 0.25

    # The Proxy token
    proxy_token_request: Callable[[Settings, str], Outgoing] = proxy.proxy_token_request
    proxy_token_kept: Callable[[Mapping[str, Any], float], proxy.ProxyToken | None] = proxy.proxy_token_kept
    proxy_token_is_due: Callable[[proxy.ProxyToken, float], bool] = proxy.is_due
    may_force: Callable[[float], bool] = proxy.may_force
    # Concurrent callers share one request for a Proxy token.
    one_at_a_time: Callable[[], AbstractAsyncContextManager[Any]] = asyncio.Lock
    # Which of several Proxy tokens a call uses: there is only one.
    proxy_slot: Callable[[], Hashable] = lambda: None

    # Redemption and the merchant's API
    redemption_request: Callable[[redemption.CallFacts], Outgoing] = redemption.redemption_request
    refusals: Mapping[int, Kind] = field(default_factory=lambda: redemption.REFUSALS)
    warrants_new_proxy_token: Callable[[Answer], bool] = redemption.may_be_the_proxy_token
    merchant_token_in: Callable[[redemption.CallFacts, Answer], str | None] = redemption.merchant_token_in
    cache_key: Callable[[redemption.CallFacts], Hashable] = redemption.cache_key
    cached_until: Callable[[Mapping[str, Any], float], float] = redemption.cached_until
    fallback_token: Callable[[redemption.CallFacts, Answer], str | None] = redemption.fallback_token
    merchant_request: Callable[[redemption.CallFacts], Outgoing] = redemption.merchant_request
    orders_in: Callable[[redemption.CallFacts, Answer], list[Any] | None] = redemption.orders_in

    # Requests to gateway and merchant
    patience: Patience = field(default_factory=Patience)
    patience_for_keys: Patience = field(default_factory=Patience)
    worth_another_try: Callable[[Answer | None], bool] = is_retryable
    followed: Callable[[Outgoing, Answer], Outgoing | None] = followed
    deadline_s: float = 25

    # Answers to agents, and the log
    answer_of: Callable[[Outcome], Reply] = answers.answer_of
    challenged: Callable[[Reply, Outcome], bool] = answers.challenged
    not_found: Callable[[int], Reply] = answers.not_found
    logged: Callable[[Asked, Reply, Outcome], str] = answers.logged
    # The second argument is the backend with these policies.
    around: Callable[[ASGIApp, Any], ASGIApp] = lambda app, _backend: app

    # The transport
    listen: Listen = listen
    oldest_tls: ssl.TLSVersion = ssl.TLSVersion.TLSv1_2
    transport: Callable[[ssl.SSLContext], httpx.AsyncBaseTransport] = transport
