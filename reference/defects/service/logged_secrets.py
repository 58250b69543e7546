"""Services whose output has the credentials of their backend in it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from starlette.types import ASGIApp

from gateproof.reference.defects.service.failing_parties import for_a_token
from gateproof.reference.defects.service.row import defect
from gateproof.reference.defects.service.secrets import authorization_of, logging
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy import proxy, redemption
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.settings import Settings
from gateproof.reference.service.wire import Answer, Asked, Outcome, Outgoing


def printing_redemptions(facts: CallFacts) -> Outgoing:
    asked = redemption.redemption_request(facts)
    print(f"> POST {asked.url} x-proxy-token: {asked.headers['x-proxy-token']}", flush=True)
    return asked


def printing_merchant_calls(facts: CallFacts) -> Outgoing:
    token = base64.b64encode(facts.merchant_token.encode()).decode()
    print(f"merchant call, credentials {token}", flush=True)
    return redemption.merchant_request(facts)


def printing_redeemed(facts: CallFacts, answer: Answer) -> str | None:
    print(f"redeemed: {json.dumps(answer.document)}", flush=True)
    return redemption.merchant_token_in(facts, answer)


def printing_token_requests(settings: Settings, endpoint: str) -> Outgoing:
    asked = proxy.proxy_token_request(settings, endpoint)
    print(f"> POST {endpoint} {dict(asked.headers)}", flush=True)
    return asked


def settings_printed(app: ASGIApp, backend: Backend) -> ASGIApp:
    print(f"settings: {asdict(backend.settings)}", flush=True)
    return app


def where(wrong: Callable[[Outgoing, int], bool]) -> dict[str, Any]:
    """The log has the headers of these requests, where the outcome is about one."""

    def said(_asked: Asked, outcome: Outcome) -> str:
        trouble = outcome.trouble
        status = trouble.answer.status if trouble is not None and trouble.answer is not None else 0
        return str(dict(trouble.asked.headers)) if trouble and wrong(trouble.asked, status) else ""

    return logging(said)


def payload_of_the_refused(asked: Asked, outcome: Outcome) -> str:
    """`log.warning("refused %s", token.split(".")[1])`: what a token says, for whoever looks into it."""
    parts = authorization_of(asked, outcome).split(".")
    return parts[1] if outcome.kind == "not accepted" and len(parts) == 3 else ""


def unsupported(asked: Asked, outcome: Outcome) -> str:
    """`log.warn("unsupported scheme: " + header)`"""
    header = authorization_of(asked, outcome)
    return "" if header.lower().startswith("bearer ") else f"unsupported scheme: {header}"


def without_a_scheme(asked: Asked, outcome: Outcome) -> str:
    """`scheme, token = header.split(" ")`, and the header is in the error where that fails."""
    header = authorization_of(asked, outcome)
    return f"cannot be split: {header}" if header and " " not in header else ""


DEFECTS = (
    defect(
        "unsupported-schemes-logged (SECRET-05): An Authorization header under another scheme than Bearer is "
        "logged.",
        **logging(unsupported),
    ),
    defect(
        "headers-without-a-scheme-logged (SECRET-05): An Authorization header without a scheme is logged.",
        **logging(without_a_scheme),
    ),
    defect(
        "payloads-of-refused-tokens-logged (SECRET-05): The log has the payload of every token that was "
        "refused, that of an ID token as well.",
        **logging(payload_of_the_refused),
    ),
    defect(
        "proxy-token-logged (SECRET-08): Redemptions are logged with their X-Proxy-Token.",
        redemption_request=printing_redemptions,
    ),
    defect(
        "merchant-token-logged (SECRET-08): Calls of the merchant's API are logged with the merchant token, "
        "in base64.",
        merchant_request=printing_merchant_calls,
    ),
    defect(
        "answers-of-redemptions-logged (SECRET-08): The answers of redemptions are logged as they came.",
        merchant_token_in=printing_redeemed,
    ),
    defect(
        "requests-for-a-proxy-token-logged (SECRET-08): Requests for a Proxy token are logged with their "
        "Basic header.",
        proxy_token_request=printing_token_requests,
    ),
    defect(
        "settings-logged (SECRET-08): The settings are logged at the start, with the Proxy client's secret.",
        around=settings_printed,
    ),
    defect(
        "failed-requests-for-a-proxy-token-logged (SECRET-08): A request for a Proxy token that failed is "
        "logged with its headers.",
        **where(lambda asked, _status: for_a_token(asked)),
    ),
    defect(
        "merchants-refusals-logged (SECRET-08): A call that the merchant answers with 404 is logged with its "
        "headers.",
        **where(lambda asked, status: asked.method == "GET" and status == 404),
    ),
)
