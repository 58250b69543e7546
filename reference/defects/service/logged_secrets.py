"""Services that log credentials of agents or of their backend."""

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
    """The log has the headers of a failed request if this function selects it."""

    def said(_asked: Asked, outcome: Outcome) -> str:
        trouble = outcome.trouble
        status = trouble.answer.status if trouble is not None and trouble.answer is not None else 0
        return str(dict(trouble.asked.headers)) if trouble and wrong(trouble.asked, status) else ""

    return logging(said)


def payload_of_the_refused(asked: Asked, outcome: Outcome) -> str:
    """`log.warning("refused %s", token.split(".")[1])`: the claims in base64url."""
    parts = authorization_of(asked, outcome).split(".")
    return parts[1] if outcome.kind == "not accepted" and len(parts) == 3 else ""


def unsupported(asked: Asked, outcome: Outcome) -> str:
    """`log.warn("unsupported scheme: " + header)`."""
    header = authorization_of(asked, outcome)
    return "" if header.lower().startswith("bearer ") else f"unsupported scheme: {header}"


def without_a_scheme(asked: Asked, outcome: Outcome) -> str:
    """`scheme, token = header.split(" ")`, and the error for a failed split contains the header."""
    header = authorization_of(asked, outcome)
    return f"cannot be split: {header}" if header and " " not in header else ""


DEFECTS = (
    defect(
        "unsupported-schemes-logged (SECRET-05): The service logs an Authorization header whose scheme is "
        "not Bearer.",
        **logging(unsupported),
    ),
    defect(
        "headers-without-a-scheme-logged (SECRET-05): The service logs an Authorization header without a "
        "scheme.",
        **logging(without_a_scheme),
    ),
    defect(
        "payloads-of-refused-tokens-logged (SECRET-05): The service logs the payload of every refused token, "
        "including ID tokens.",
        **logging(payload_of_the_refused),
    ),
    defect(
        "proxy-token-logged (SECRET-08): The service logs each redemption with its X-Proxy-Token.",
        redemption_request=printing_redemptions,
    ),
    defect(
        "merchant-token-logged (SECRET-08): The service logs each call of the merchant's API with the "
        "merchant token in base64.",
        merchant_request=printing_merchant_calls,
    ),
    defect(
        "answers-of-redemptions-logged (SECRET-08): The service logs the whole response of each redemption.",
        merchant_token_in=printing_redeemed,
    ),
    defect(
        "requests-for-a-proxy-token-logged (SECRET-08): The service logs each request for a Proxy token with "
        "its Basic header.",
        proxy_token_request=printing_token_requests,
    ),
    defect(
        "settings-logged (SECRET-08): The service logs its settings at the start, with the Proxy client's "
        "secret.",
        around=settings_printed,
    ),
    defect(
        "failed-requests-for-a-proxy-token-logged (SECRET-08): The service logs a failed request for a Proxy "
        "token with its headers.",
        **where(lambda asked, _status: for_a_token(asked)),
    ),
    defect(
        "merchants-refusals-logged (SECRET-08): The service logs a merchant API call that is answered with "
        "404, with its headers.",
        **where(lambda asked, status: asked.method == "GET" and status == 404),
    ),
)
