"""Other legal ways to live with a merchant in trouble."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import Any, cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.deviations.held_locks import ending_with_its_caller
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.merchants import Merchants
from gateproof.reference.gateway.policy import redemption, vault
from gateproof.reference.gateway.policy.vault import MerchantAnswer, MerchantLimits, Verdict
from gateproof.reference.gateway.records import MerchantPlace, Resource, VaultEntry, VaultKey
from gateproof.reference.gateway.vault import Vault
from gateproof.reference.outcomes import Refusal
from gateproof.reference.variants.variant import variant

PAUSES_S = (0.05, 0.15)
REST_S = 1.0
WORKERS = 4
MOST_AT_ONCE = 10
# Longer than a gateway is waited for that goes on asking.
OPEN_S = 12.0
SPARED_S = 3.0
RETRY_AFTER = (b"retry-after", b"1")


class _Patient:
    """Asks a merchant in trouble again, twice, with growing pauses."""

    def __init__(self, merchants: Merchants) -> None:
        self._merchants = merchants

    async def ask(self, merchant: MerchantPlace, form: dict[str, str]) -> MerchantAnswer:
        answer = await self._merchants.ask(merchant, form)
        for pause_s in PAUSES_S:
            if vault.refresh_verdict(answer) != "transient" or answer.trouble == "late":
                break
            await asyncio.sleep(pause_s)
            answer = await self._merchants.ask(merchant, form)
        return answer


class _ThreeTries(Vault):
    def __init__(self, *, merchants: Merchants, **parts: Any) -> None:
        super().__init__(merchants=cast("Merchants", _Patient(merchants)), **parts)


class _Resting(Vault):
    """After trouble a merchant is left in peace for a moment."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self._until: dict[VaultKey, float] = {}

    async def _refresh(self, key: VaultKey, entry: VaultEntry, resource: Resource) -> Verdict:
        if time.monotonic() < self._until.get(key, 0):
            return "transient"
        verdict = await super()._refresh(key, entry, resource)
        if verdict == "transient":
            self._until[key] = time.monotonic() + REST_S
        return verdict


class _Breaker:
    """A merchant that answered a refresh with 5xx is not asked about the same token again for a while."""

    def __init__(self, merchants: Merchants) -> None:
        self._merchants = merchants
        self._until: dict[str, float] = {}

    async def ask(self, merchant: MerchantPlace, form: dict[str, str]) -> MerchantAnswer:
        token = form.get("refresh_token", "")
        if time.monotonic() < self._until.get(token, 0):
            return MerchantAnswer(status=503)
        answer = await self._merchants.ask(merchant, form)
        if token and answer.status is not None and answer.status >= 500:
            self._until[token] = time.monotonic() + OPEN_S
        return answer


class _Breaking(Vault):
    def __init__(self, *, merchants: Merchants, **parts: Any) -> None:
        super().__init__(merchants=cast("Merchants", _Breaker(merchants)), **parts)


class _Host:
    """A merchant that answered with 5xx is asked for nothing for a while, whoever it is about."""

    def __init__(self, merchants: Merchants) -> None:
        self._merchants = merchants
        self._until: dict[str, float] = {}

    async def ask(self, merchant: MerchantPlace, form: dict[str, str]) -> MerchantAnswer:
        if time.monotonic() < self._until.get(merchant.token_endpoint, 0):
            return MerchantAnswer(status=503)
        answer = await self._merchants.ask(merchant, form)
        if answer.status is not None and answer.status >= 500:
            self._until[merchant.token_endpoint] = time.monotonic() + SPARED_S
        return answer


class _SparesTheHost(Vault):
    def __init__(self, *, merchants: Merchants, **parts: Any) -> None:
        super().__init__(merchants=cast("Merchants", _Host(merchants)), **parts)


class _AskingHost:
    """A merchant that asks for a pause is asked for nothing until it is over, whoever it is about."""

    def __init__(self, merchants: Merchants) -> None:
        self._merchants = merchants
        self._until: dict[str, float] = {}

    async def ask(self, merchant: MerchantPlace, form: dict[str, str]) -> MerchantAnswer:
        if time.monotonic() < self._until.get(merchant.token_endpoint, 0):
            return MerchantAnswer(status=503)
        answer = await self._merchants.ask(merchant, form)
        if answer.retry_after is not None:
            self._until[merchant.token_endpoint] = time.monotonic() + _seconds(answer.retry_after)
        return answer


def _seconds(retry_after: str) -> float:
    if retry_after.isdigit():
        return float(retry_after)
    return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())


class _SparesAsAsked(Vault):
    def __init__(self, *, merchants: Merchants, **parts: Any) -> None:
        super().__init__(merchants=cast("Merchants", _AskingHost(merchants)), **parts)


class _CallersVault(Vault):
    """A refresh belongs to the callers for whom it is made, and ends with the first who leaves."""

    async def _refresh_together(self, key: VaultKey, entry: VaultEntry, resource: Resource) -> Verdict:
        try:
            return await super()._refresh_together(key, entry, resource)
        except asyncio.CancelledError:
            if flight := self._flights.get(self._policies.flight_key(key)):
                flight.cancel()
            raise


def _asking_to_wait(app: ASGIApp, _gateway: Gateway) -> ASGIApp:
    """A 503 says when to come again."""

    async def asking(scope: Scope, receive: Receive, send: Send) -> None:
        async def passed_on(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 503:
                message = {**message, "headers": [*message["headers"], RETRY_AFTER]}
            await send(message)

        await app(scope, receive, passed_on)

    return asking


def _four_workers(app: ASGIApp, _gateway: Gateway) -> ASGIApp:
    """Whole requests wait for one of four workers, behind a server that reads them in."""
    workers = asyncio.Semaphore(WORKERS)

    async def in_turn(scope: Scope, receive: Receive, send: Send) -> None:
        messages = [await receive()]
        while messages[-1]["type"] == "http.request" and messages[-1].get("more_body"):
            messages.append(await receive())
        read = iter(messages)

        async def again() -> Message:
            return next(read, None) or await receive()

        async with workers:
            await app(scope, again, send)

    return in_turn


def _unavailable(status: int) -> Callable[[], Refusal]:
    return lambda: replace(redemption.merchant_unavailable(), status=status, error="bad_gateway")


def _refused_by_nonsense(answer: MerchantAnswer) -> Verdict:
    """Whatever is neither trouble nor a token is a no."""
    verdict, status = vault.refresh_verdict(answer), answer.status
    plain_trouble = status is None or status == 429 or status >= 500
    return "rejected" if verdict == "transient" and not plain_trouble else verdict


def _read_as_a_number(
    old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
) -> VaultEntry | None:
    """A lifetime in digits is taken for what it means."""
    document = answer.document or {}
    lifetime = document.get("expires_in")
    if isinstance(lifetime, str) and lifetime.isdigit():
        answer = replace(answer, document={**document, "expires_in": int(lifetime)})
    return vault.entry_after_provisioning(old, verdict, answer, now)


def _busy_beyond_ten(app: ASGIApp, _gateway: Gateway) -> ASGIApp:
    """Whoever comes while ten are served is told that there is no room, and not when to come again."""
    served = 0

    async def limited(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal served
        if served >= MOST_AT_ONCE:
            headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
            await send({"type": "http.response.start", "status": 503, "headers": headers})
            await send({"type": "http.response.body", "body": b'{"error": "temporarily_unavailable"}'})
            return
        served += 1
        try:
            await app(scope, receive, send)
        finally:
            served -= 1

    return limited


VARIANTS = (
    variant(
        "busy-beyond-ten: whoever comes while ten are served gets 503",
        around=_busy_beyond_ten,
    ),
    variant(
        "three-tries: a merchant in trouble is asked again twice, with growing pauses",
        vault_at_work=_ThreeTries,
    ),
    variant(
        "a-rest-after-trouble: after trouble a merchant is left in peace for a second, and callers are "
        "asked to wait as long",
        vault_at_work=_Resting,
        around=_asking_to_wait,
    ),
    variant(
        "circuit-open-for-twelve-seconds: a merchant that answered a refresh with 5xx is left in peace for "
        "twelve seconds, and nobody is told",
        vault_at_work=_Breaking,
    ),
    variant(
        "merchant-spared-for-three-seconds: a merchant that answered with 5xx is asked for nothing for "
        "three seconds, at sign-ins either",
        vault_at_work=_SparesTheHost,
    ),
    variant(
        "merchant-spared-as-long-as-it-asks: a merchant that asks for a pause is asked for nothing until it "
        "is over, at sign-ins either",
        vault_at_work=_SparesAsAsked,
    ),
    variant(
        "refresh-ends-with-its-caller: a caller that hangs up ends the refresh that is made for it, and "
        "what the merchant issued is lost",
        vault_at_work=_CallersVault,
        around=ending_with_its_caller(),
    ),
    variant(
        "four-workers: four requests are served at a time, and the merchant may take ten seconds to answer",
        around=_four_workers,
        merchant_limits=MerchantLimits(total_s=10, silence_s=10),
    ),
    variant(
        "trouble-is-502: a merchant in trouble makes redemption answer 502",
        merchant_unavailable=_unavailable(502),
    ),
    variant(
        "trouble-is-500: a merchant in trouble makes redemption answer 500",
        merchant_unavailable=_unavailable(500),
    ),
    variant(
        "nonsense-is-a-no: an answer of the merchant that is neither trouble nor a token counts as a "
        "rejection",
        refresh_verdict=_refused_by_nonsense,
    ),
    variant(
        "lifetimes-in-digits: a lifetime that is a string of digits is a number",
        entry_after_provisioning=_read_as_a_number,
    ),
    variant(
        "long-patience: the merchant may take eight seconds, and its answer be of any size",
        merchant_limits=MerchantLimits(total_s=8, silence_s=7, most_octets=1 << 30),
    ),
)
