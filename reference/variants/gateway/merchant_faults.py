"""Other legal ways to handle failures of the merchant."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import Any, cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.deviations.held_locks import cancelled_on_disconnect
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
# Longer than the harness waits for a gateway that keeps calling the merchant.
OPEN_S = 12.0
SPARED_S = 3.0
RETRY_AFTER = (b"retry-after", b"1")


class _Patient:
    """Repeats a failed request to the merchant twice, with growing pauses."""

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
    """Does not refresh a token again for a moment after a failure."""

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
    """Does not send a refresh token again for a while after the merchant answered with 5xx."""

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
    """Does not call a merchant for a while after a 5xx, for any user."""

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
    """Does not call a merchant until its Retry-After is over, for any user."""

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
    """Cancels a refresh when the first of its callers disconnects."""

    async def _refresh_together(self, key: VaultKey, entry: VaultEntry, resource: Resource) -> Verdict:
        try:
            return await super()._refresh_together(key, entry, resource)
        except asyncio.CancelledError:
            if flight := self._flights.get(self._policies.flight_key(key)):
                flight.cancel()
            raise


def _asking_to_wait(app: ASGIApp, _gateway: Gateway) -> ASGIApp:
    """Adds Retry-After to a 503."""

    async def asking(scope: Scope, receive: Receive, send: Send) -> None:
        async def passed_on(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 503:
                message = {**message, "headers": [*message["headers"], RETRY_AFTER]}
            await send(message)

        await app(scope, receive, passed_on)

    return asking


def _four_workers(app: ASGIApp, _gateway: Gateway) -> ASGIApp:
    """Serves four requests at a time, after each was read completely."""
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
    """Regards an answer that is neither a failure nor a token as a rejection."""
    verdict, status = vault.refresh_verdict(answer), answer.status
    plain_trouble = status is None or status == 429 or status >= 500
    return "rejected" if verdict == "transient" and not plain_trouble else verdict


def _read_as_a_number(
    old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
) -> VaultEntry | None:
    """Accepts a lifetime in a string of digits."""
    document = answer.document or {}
    lifetime = document.get("expires_in")
    if isinstance(lifetime, str) and lifetime.isdigit():
        answer = replace(answer, document={**document, "expires_in": int(lifetime)})
    return vault.entry_after_provisioning(old, verdict, answer, now)


def _busy_beyond_ten(app: ASGIApp, _gateway: Gateway) -> ASGIApp:
    """Answers 503 without Retry-After while ten requests are served."""
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
        "busy-beyond-ten: the gateway answers 503 while it serves ten requests",
        around=_busy_beyond_ten,
    ),
    variant(
        "three-tries: the gateway repeats a failed request to the merchant twice, with growing pauses",
        vault_factory=_ThreeTries,
    ),
    variant(
        "a-rest-after-trouble: the gateway does not refresh a token again for a second after a failure, and "
        "sends Retry-After with 503",
        vault_factory=_Resting,
        around=_asking_to_wait,
    ),
    variant(
        "circuit-open-for-twelve-seconds: after a 5xx, the gateway does not send the refresh token to the "
        "merchant for twelve seconds, and sends no Retry-After",
        vault_factory=_Breaking,
    ),
    variant(
        "merchant-spared-for-three-seconds: after a 5xx, the gateway does not call the merchant for three "
        "seconds, not even at sign-ins",
        vault_factory=_SparesTheHost,
    ),
    variant(
        "merchant-spared-as-long-as-it-asks: the gateway does not call a merchant until its Retry-After is "
        "over, not even at sign-ins",
        vault_factory=_SparesAsAsked,
    ),
    variant(
        "refresh-ends-with-its-caller: the gateway cancels a refresh when its caller disconnects, and loses "
        "the tokens that the merchant issued",
        vault_factory=_CallersVault,
        around=cancelled_on_disconnect(),
    ),
    variant(
        "four-workers: the gateway serves four requests at a time, and gives the merchant ten seconds to "
        "answer",
        around=_four_workers,
        merchant_limits=MerchantLimits(total_s=10, silence_s=10),
    ),
    variant(
        "trouble-is-502: redemption answers 502 when the merchant fails",
        merchant_unavailable=_unavailable(502),
    ),
    variant(
        "trouble-is-500: redemption answers 500 when the merchant fails",
        merchant_unavailable=_unavailable(500),
    ),
    variant(
        "nonsense-is-a-no: the gateway regards a merchant's answer that is neither a failure nor a token as "
        "a rejection",
        refresh_verdict=_refused_by_nonsense,
    ),
    variant(
        "lifetimes-in-digits: the gateway accepts an expires_in that is a string of digits",
        entry_after_provisioning=_read_as_a_number,
    ),
    variant(
        "long-patience: the gateway gives the merchant eight seconds to answer, and accepts answers of any "
        "size",
        merchant_limits=MerchantLimits(total_s=8, silence_s=7, most_octets=1 << 30),
    ),
)
