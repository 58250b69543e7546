"""Services that show credentials to a caller who asks for debug fields."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

from gateproof.reference.defects.service.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy import redemption
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.wire import Outgoing

Wanted = Callable[[Asked], bool]


def by_header(asked: Asked) -> bool:
    return bool(asked.headers.get("x-debug"))


def by_query(asked: Asked) -> bool:
    return any(name == "debug" for name, _ in parse_qsl(asked.query, keep_blank_values=True))


def by_member(asked: Asked) -> bool:
    """The body has a member `verbose` anywhere."""
    return b'"verbose"' in asked.body


def debugging(wanted: Wanted, credential: Callable[[CallFacts], str]) -> dict[str, Any]:
    """The credential of the last redemption is added to answers, errors as well, if it is `wanted`."""
    seen: list[str] = []

    def redemption_request(facts: CallFacts) -> Outgoing:
        seen[:] = [credential(facts)]
        return redemption.redemption_request(facts)

    def merchant_request(facts: CallFacts) -> Outgoing:
        seen[:] = [credential(facts)]
        return redemption.merchant_request(facts)

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        if not (seen and wanted(asked)):
            return answered
        try:
            document = json.loads(answered.body)
        except ValueError:
            return answered.with_header("x-debug", seen[0])
        return replace(answered, body=json.dumps(document | {"debug": {"sent": seen[0]}}).encode())

    return {
        "redemption_request": redemption_request,
        "merchant_request": merchant_request,
        "around": altering_answers(change),
    }


DEFECTS = (
    defect(
        "merchant-token-for-debugging (SECRET-02): With `X-Debug`, the answer contains the merchant token.",
        **debugging(by_header, lambda facts: facts.merchant_token),
    ),
    defect(
        "proxy-token-for-debugging (SECRET-03 SECRET-06): With `debug` in the query, the answer contains the "
        "Proxy token, as does an error.",
        **debugging(by_query, lambda facts: facts.proxy_token),
    ),
    defect(
        "proxy-client-for-debugging (SECRET-04 SECRET-06): With the argument `verbose`, the answer contains "
        "the secret of the Proxy client, as does an error.",
        **debugging(by_member, lambda facts: facts.settings.proxy_client_secret),
    ),
)
