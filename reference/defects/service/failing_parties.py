"""Services that handle failures, refusals and redirects of gateway or merchant wrongly."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from gateproof.reference.defects.service.row import defect
from gateproof.reference.defects.service.signatures import unverified_claims
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy import redemption
from gateproof.reference.service.policy.answers import answer_of
from gateproof.reference.service.policy.keys import Known
from gateproof.reference.service.policy.proxy import ProxyToken, may_force, proxy_token_kept
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.policy.validation import Jwk, signed_claims
from gateproof.reference.service.upstream import Patience, is_retryable
from gateproof.reference.service.wire import Answer, Outcome, Outgoing, Reply

STORM = Patience(tries=40, pause_s=0, answer_s=2)
REDIRECTS = frozenset({301, 302, 303, 307, 308})


def always_again(answer: Answer | None) -> bool:
    """True for no answer, and for every status from 400 on."""
    return is_retryable(answer) or (answer is not None and answer.status >= 400)


def following(endpoint: Callable[[Outgoing], bool], *dropped: str) -> dict[str, Any]:
    """A redirect of these requests is followed with all headers except the dropped ones."""

    def followed(asked: Outgoing, answer: Answer) -> Outgoing | None:
        if answer.status not in REDIRECTS or "location" not in answer.headers or not endpoint(asked):
            return None
        kept = {name: value for name, value in asked.headers.items() if name not in dropped}
        if answer.status in (307, 308):
            return replace(asked, url=answer.headers["location"], headers=kept)
        return Outgoing(method="GET", url=answer.headers["location"], headers=kept)

    return {"followed": followed}


def banned_after_a_401() -> Callable[[CallFacts, Answer], list[Any] | None]:
    """A user for whom the merchant answered 401 once gets no orders any more."""
    banned: set[Any] = set()

    def orders_in(facts: CallFacts, answer: Answer) -> list[Any] | None:
        if answer.status == 401:
            banned.add(facts.claims.get("sub"))
        return None if facts.claims.get("sub") in banned else redemption.orders_in(facts, answer)

    return orders_in


def for_a_token(asked: Outgoing) -> bool:
    return b"grant_type" in asked.body


def for_a_redemption(asked: Outgoing) -> bool:
    return "x-proxy-token" in asked.headers


def for_the_merchant(asked: Outgoing) -> bool:
    return asked.method == "GET" and "authorization" in asked.headers


def broken_for_good(app: ASGIApp, _backend: Backend) -> ASGIApp:
    """After the first 503, a circuit breaker refuses all calls and never closes."""
    open_circuit = False

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal open_circuit
        if open_circuit and scope["path"] == "/orders":
            await send({"type": "http.response.start", "status": 500, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return

        async def noting(message: Any) -> None:
            nonlocal open_circuit
            open_circuit = open_circuit or message.get("status") == 503
            await send(message)

        await app(scope, receive, noting)

    return guarded


def dropped(kinds: set[str]) -> dict[str, Any]:
    """For these outcomes, the agent's connection is closed in the middle of the answer."""

    def answer(outcome: Outcome) -> Reply:
        reply = answer_of(outcome)
        return replace(reply, status=599) if outcome.trouble is not None and outcome.kind in kinds else reply

    def around(app: ASGIApp, _backend: Backend) -> ASGIApp:
        async def vanishing(scope: Scope, receive: Receive, send: Send) -> None:
            async def unless_lost(message: Any) -> None:
                if message.get("status") == 599:
                    # uvicorn closes a connection whose application ends in the middle of an answer.
                    lost = [(b"content-length", b"9")]
                    await send({"type": "http.response.start", "status": 500, "headers": lost})
                    raise ConnectionAbortedError
                await send(message)

            await app(scope, receive, unless_lost)

        return vanishing

    return {"answer_of": answer, "around": around}


def invalid_proxy_token_kept() -> dict[str, Any]:
    """An invalid access_token is kept as the Proxy token for an hour."""
    garbage: list[ProxyToken] = []

    def kept(document: Mapping[str, Any], now: float) -> ProxyToken | None:
        token = proxy_token_kept(document, now)
        if token is None:
            token = ProxyToken(value=str(document.get("access_token")), renew_at=now + 3600)
            garbage.append(token)
        return token

    return {"proxy_token_kept": kept, "may_force": lambda since_s: not garbage and may_force(since_s)}


def last_orders() -> Any:
    """In place of a 403 or 503, the last orders of any user are shown again."""
    shown: dict[str, bytes] = {}

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        if asked.path != "/orders":
            return answered
        if answered.status == 200:
            shown["body"] = answered.body
        elif answered.status in (403, 503) and "body" in shown:
            return replace(answered, status=200, body=shown["body"])
        return answered

    return altering_answers(change)


def last_merchant_token() -> dict[str, Any]:
    """If redemption returns no merchant token, the last one of any user is used."""
    seen: list[str] = []

    def found(facts: CallFacts, answer: Answer) -> str | None:
        token = redemption.merchant_token_in(facts, answer)
        seen[:] = [token] if token else seen
        return token

    return {"merchant_token_in": found, "fallback_token": lambda _facts, _answer: seen[0] if seen else None}


def kept_for_ever(before: Known | None) -> Known | None:
    return replace(before, fetched_at=math.inf) if before is not None else None


def none_known(before: Known | None) -> Known | None:
    return replace(before, keys=(), fetched_at=-math.inf) if before is not None else None


def taken_without_keys(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
    """`if keys and not verified(token)`: without keys, every token is accepted."""
    return signed_claims(token, keys) if keys else unverified_claims(token, keys)


DEFECTS = (
    defect(
        "user-locked-out-after-a-merchants-401 (BACK-06): After the merchant API has answered 401 for a "
        "user, the service never serves this user again.",
        orders_in=banned_after_a_401(),
    ),
    defect(
        "tries-without-bound (BACK-06): The service sends a failing request forty times in one call.",
        patience=STORM,
    ),
    defect(
        "waits-without-bound (BACK-06): The service waits up to ten minutes for a party that does not "
        "answer.",
        patience=Patience(tries=1, answer_s=600),
        deadline_s=600,
    ),
    defect(
        "waits-for-more-than-a-minute (BACK-06): The service waits seven times ten seconds for a party that "
        "does not answer.",
        patience=Patience(tries=7, pause_s=0, answer_s=10),
        deadline_s=600,
    ),
    defect(
        "keys-tried-without-bound (BACK-06): The service requests a failing key set forty times in one call.",
        patience_for_keys=STORM,
    ),
    defect(
        "keys-waited-for-without-bound (BACK-06): The service waits up to ten minutes for a key set.",
        patience_for_keys=Patience(tries=1, answer_s=600),
        deadline_s=600,
    ),
    defect(
        "keys-never-asked-for-again (BACK-06 SERVE-02): After a failed fetch of the key set, the service "
        "uses the old keys for ever.",
        keys_while_out_of_reach=kept_for_ever,
    ),
    defect(
        "token-taken-without-the-keys (BACK-06): While the key set cannot be fetched, the service accepts "
        "tokens without verifying the signature.",
        keys_while_out_of_reach=none_known,
        signed_claims=taken_without_keys,
    ),
    defect(
        "circuit-stays-open (BACK-06 ROBUST-02 SERVE-01 SERVE-02 CHAL-02): After one failure of gateway or "
        "merchant, the service refuses all calls for ever.",
        around=broken_for_good,
    ),
    defect(
        "garbage-kept-as-a-proxy-token (BACK-06 BACK-03 BACK-04 BACK-09 SERVE-01): The service keeps an "
        "invalid access_token of the token endpoint for an hour, even if redemption refuses it.",
        **invalid_proxy_token_kept(),
    ),
    defect(
        "connection-dropped-in-trouble (BACK-06 BACK-07 ROBUST-02): If gateway or merchant fail, the service "
        "closes the agent's connection in the middle of the answer.",
        **dropped({"unavailable"}),
    ),
    defect(
        "refusals-tried-again (BACK-07 BACK-08 BACK-06 BACK-03): The service sends a request that is "
        "refused, such as a redemption, forty times.",
        patience=STORM,
        worth_another_try=always_again,
    ),
    defect(
        "connection-dropped-on-a-refusal (BACK-07 BACK-08): If redemption refuses, the service closes the "
        "agent's connection in the middle of the answer.",
        **dropped({"not accepted", "nothing there", "reauthorize"}),
    ),
    defect(
        "last-orders-shown-again (BACK-07 BACK-06 BACK-08 BACK-10 SECRET-06): In place of a 403 or 503, the "
        "service shows the last orders of any user.",
        around=last_orders(),
    ),
    defect(
        "last-merchant-token-stands-in (BACK-08 BACK-07 BACK-06 BACK-10): If redemption refuses, the service "
        "uses the last merchant token of any user.",
        **last_merchant_token(),
    ),
    defect(
        "token-endpoints-redirect-followed (BACK-09): The service follows a redirect of the token endpoint "
        "and sends the Proxy client's secret.",
        **following(for_a_token),
    ),
    defect(
        "redemptions-redirect-followed (BACK-09): The service follows a redirect of the redemption endpoint "
        "and sends both tokens.",
        **following(for_a_redemption),
    ),
    defect(
        "redemptions-redirect-followed-by-a-library (BACK-09): The service follows a redirect of the "
        "redemption endpoint and sends X-Proxy-Token, but not Authorization.",
        **following(for_a_redemption, "authorization"),
    ),
    defect(
        "merchants-redirect-followed (BACK-09): The service follows a redirect of the merchant's API and "
        "sends the merchant token.",
        **following(for_the_merchant),
    ),
)
