"""The service's backend: token validation, redemption, and calls to the merchant."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx

from gateproof.reference.service.gateway import Gateway
from gateproof.reference.service.policies import Policies
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.policy.validation import ClaimFacts
from gateproof.reference.service.proxy_tokens import ProxyTokens
from gateproof.reference.service.settings import Settings
from gateproof.reference.service.upstream import Unavailable, Upstream
from gateproof.reference.service.wire import Asked, Failure, Outcome


class Backend:
    """Validates gateway access tokens, and fetches a user's orders with them."""

    def __init__(
        self,
        settings: Settings,
        client: httpx.AsyncClient,
        now: Callable[[], float],
        policies: Policies | None = None,
    ) -> None:
        self.settings = settings
        self.policies = policies = policies or Policies()
        self._now = now
        asked = (policies.worth_another_try, policies.followed)
        self._upstream = Upstream(client, policies.patience, *asked)
        self._gateway = Gateway(settings, Upstream(client, policies.patience_for_keys, *asked), now, policies)
        self.proxy_tokens = ProxyTokens(settings, self._gateway, self._upstream, now, policies)
        self._merchant_tokens: dict[Hashable, tuple[str, float]] = {}

    async def call_of(self, asked: Asked) -> CallFacts | Outcome:
        """The facts of an authorized call, or the outcome that refuses it."""
        token = self.policies.presented_token(asked)
        if token is None:
            given = bool(asked.headers_named("authorization"))
            return Outcome(kind="not accepted" if given else "no token")
        try:
            async with self._in_time():
                claims = await self._claims(token)
        except Unavailable as reason:
            return Outcome(kind="unavailable", trouble=reason.trouble)
        if claims is None:
            return Outcome(kind="not accepted")
        return CallFacts(asked=asked, settings=self.settings, token=token, claims=claims)

    async def orders(self, call: CallFacts) -> Outcome:
        """The user's orders, fetched with the merchant token for their gateway access token."""
        try:
            async with self._in_time():
                return await self._orders(call)
        except Unavailable as reason:
            return Outcome(kind="unavailable", trouble=reason.trouble)

    async def _claims(self, token: str) -> dict[str, Any] | None:
        """The claims of a valid token; keys are fetched again before a token is refused."""
        policies = self.policies
        gateway = await self._gateway.known(policies.keys_for_s)
        claims = policies.signed_claims(token, gateway.keys)
        if claims is None:
            gateway = await self._gateway.known(policies.keys_again_after_s)
            claims = policies.signed_claims(token, gateway.keys)
        if claims is None:
            return None
        facts = ClaimFacts(
            token=token, claims=claims, issuer=gateway.issuer, settings=self.settings, now=self._now()
        )
        return claims if all(check(facts) for check in policies.claim_checks) else None

    async def _orders(self, call: CallFacts) -> Outcome:
        found = await self._redeemed(call)
        if isinstance(found, Outcome):
            return found
        call = found
        asked = self.policies.merchant_request(call)
        answer = await self._upstream.ask(asked)
        orders = self.policies.orders_in(call, answer)
        if orders is None:
            self._merchant_tokens.pop(self.policies.cache_key(call), None)
            return Outcome(kind="unavailable", trouble=Failure(asked=asked, answer=answer))
        return Outcome(kind="served", orders=orders)

    async def _redeemed(self, call: CallFacts) -> CallFacts | Outcome:
        """The call with its merchant token, or the outcome without one."""
        policies = self.policies
        kept, until = self._merchant_tokens.get(policies.cache_key(call), ("", 0.0))
        if kept and self._now() < until:
            return replace(call, merchant_token=kept)
        place = policies.proxy_slot()
        call = replace(call, proxy_token=await self.proxy_tokens.current(place))
        asked = policies.redemption_request(call)
        answer = await self._upstream.ask(asked)
        if policies.warrants_new_proxy_token(answer) and (
            renewed := await self.proxy_tokens.another_than(call.proxy_token, place)
        ):
            # The Proxy token may have been revoked. If the user's token is the reason, this is a 401 again.
            call = replace(call, proxy_token=renewed)
            asked = policies.redemption_request(call)
            answer = await self._upstream.ask(asked)
        token = policies.merchant_token_in(call, answer)
        if token is not None:
            now = self._now()
            if (until := policies.cached_until(answer.document, now)) > now:
                self._merchant_tokens[policies.cache_key(call)] = token, until
        elif (token := policies.fallback_token(call, answer)) is None:
            refused = policies.refusals.get(answer.status, "unavailable")
            return Outcome(kind=refused, trouble=Failure(asked=asked, answer=answer))
        return replace(call, merchant_token=token)

    @asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        """Raises Unavailable after the deadline."""
        try:
            async with asyncio.timeout(self.policies.deadline_s):
                yield
        except TimeoutError:
            raise Unavailable from None
